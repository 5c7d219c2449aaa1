import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../shared/log.ts';
import { openQueues } from '../../../shared/queue/backend.ts';
import type { Queues } from '../../../shared/queue/queues.ts';
import { describeOnEachStore } from '../../support/queue-stores.ts';
import { until } from '../../support/until.ts';

const LOG = createLog('test', 'silent');
const EACH_SECOND = '* * * * * *';

describeOnEachStore('a recurring ticket', (store) => {
  const opened: Queues[] = [];
  const open = async () => {
    const queues = await openQueues(store().config(), LOG);
    opened.push(queues);
    return queues;
  };
  after(() => Promise.all(opened.map((one) => one.close())));

  it('comes once for each tick, however many processes plant it, and no more when it is removed', async () => {
    const taken: number[] = [];
    for (const _ of ['one process', 'another', 'a third']) {
      const queues = await open();
      await queues.recurring('ticks').plant('a', EACH_SECOND);
      queues.worker('ticks', async () => void taken.push(Date.now()));
    }
    await until(() => taken.length >= 4, 20_000);
    const [first = 0] = taken;
    const last = taken.at(-1) ?? 0;
    // A busy machine may be late with one, but none comes twice.
    assert.ok(taken.length <= Math.ceil((last - first) / 1000) + 1, `${taken.map((at) => at - first)}`);
    const queues = await open();
    await queues.recurring('ticks').remove('a');
    // One may be on its way.
    await sleep(1000);
    const { length } = taken;
    await sleep(2000);
    assert.equal(taken.length, length);
  });

  it('is replaced when its pattern changes', async () => {
    let taken = 0;
    const queues = await open();
    await queues.recurring('others').plant('b', '0 0 1 1 *');
    queues.worker('others', async () => {
      taken += 1;
    });
    await queues.recurring('others').plant('b', EACH_SECOND);
    await until(() => taken > 0, 20_000);
  });
});
