import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../shared/log.ts';
import type { Queues } from '../../../shared/queue/queues.ts';
import { openQueues } from '../../../shared/queue/queues.ts';
import { describeOnEachStore } from '../../support/queue-stores.ts';
import { until } from '../../support/until.ts';

const LOG = createLog('test', 'silent');
/** Well under the ten seconds after which an idle worker asks by itself. */
const PROMPTLY_MS = 500;
/** Tickets of a process that are asked for within this time share one. */
const SHARED_MS = 250;

describeOnEachStore('queue of tickets', (store) => {
  /** As if from as many processes. */
  let opened: Queues[] = [];
  let nth = 0;
  let name = '';
  beforeEach(() => {
    nth += 1;
    name = `test${nth}`;
  });
  afterEach(async () => {
    await Promise.all(opened.map((one) => one.close()));
    opened = [];
  });

  const open = async () => {
    const queues = await openQueues(store().config(), LOG);
    opened.push(queues);
    return queues;
  };

  it('a queue of tickets reaches one of several idle processes promptly', async () => {
    const queue = (await open()).queue(name);
    let taken = 0;
    for (let n = 0; n < 4; n += 1)
      (await open()).worker(name, async () => {
        taken += 1;
      });
    queue.add(['first']);
    await until(() => taken === 1);
    for (let n = 1; n <= 10; n += 1) {
      await sleep(SHARED_MS);
      const since = performance.now();
      queue.add([`${n}`]);
      await until(() => taken === n + 1);
      assert.ok(performance.now() - since < PROMPTLY_MS, `${performance.now() - since} ms`);
    }
  });

  it('a queue of tickets holds one ticket however many are asked for, and serves the latest too', async () => {
    const producers = await Promise.all([open(), open()]);
    const queues = producers.map((one) => one.queue(name));
    const since = performance.now();
    for (let n = 0; performance.now() - since < 1000; n += 1) {
      for (const queue of queues) queue.add([`${n}`]);
      await sleep(5);
    }
    assert.equal(await store().waiting(name), 1);

    let taken = 0;
    (await open()).worker(name, async () => {
      taken += 1;
    });
    // Those asked for at the end share one that follows.
    await until(async () => taken > 0 && (await store().waiting(name)) === 0);
    await sleep(SHARED_MS);
    const before = taken;
    assert.ok(before <= 3, `${before} taken`);
    queues[1]?.add(['one more']);
    await until(() => taken === before + 1, PROMPTLY_MS);
  });

  it('a queue of tickets is not stopped by a take that rejects', async () => {
    const queue = (await open()).queue(name);
    let calls = 0;
    (await open()).worker(name, async () => {
      calls += 1;
      if (calls === 1) throw new Error('a defect');
    });
    queue.add(['a']);
    await until(() => calls === 1);
    queue.add(['b']);
    await until(() => calls === 2);
  });

  it('a queue of tickets lets a process close while its worker handles a ticket', async () => {
    const [taken, handled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const worker = (await open()).worker(name, () => {
      taken.resolve();
      return handled.promise;
    });
    (await open()).queue(name).add(['a']);
    await taken.promise;
    const since = performance.now();
    await worker.close();
    assert.ok(performance.now() - since < 2000);
    handled.resolve();
  });
});
