import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../shared/log.ts';
import type { Queues } from '../../../shared/queue/queues.ts';
import { openQueues } from '../../../shared/queue/queues.ts';
import { describeOnEachStore } from '../../support/queue-stores.ts';
import { until } from '../../support/until.ts';

const LOG = createLog('test', 'silent');
/** Half of the ten seconds after which an idle worker polls. */
const DELIVERY_MAX_MS = 5000;
/** A little more than the interval in which a process adds one ticket at most. */
const TICKET_INTERVAL_MS = 250;

describeOnEachStore('ticket queue', (store) => {
  /** Queues of the running test, each as if opened by another process. */
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

  it('a ticket queue delivers each ticket to one of four idle processes before any of them polls', async () => {
    const queue = (await open()).queue(name);
    let taken = 0;
    for (let n = 0; n < 4; n += 1)
      (await open()).worker(name, async () => {
        taken += 1;
      });
    queue.add(['first']);
    await until(() => taken === 1);
    for (let n = 1; n <= 10; n += 1) {
      await sleep(TICKET_INTERVAL_MS);
      const since = performance.now();
      queue.add([`${n}`]);
      await until(() => taken === n + 1);
      assert.ok(performance.now() - since < DELIVERY_MAX_MS, `${performance.now() - since} ms`);
    }
  });

  it('a ticket queue holds one ticket after two processes have added many, and delivers a ticket that is added later', async () => {
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
    // The calls at the end of the loop share one ticket, which is added after the loop.
    await until(async () => taken > 0 && (await store().waiting(name)) === 0);
    await sleep(TICKET_INTERVAL_MS);
    const before = taken;
    assert.ok(before <= 3, `${before} taken`);
    queues[1]?.add(['one more']);
    await until(() => taken === before + 1, DELIVERY_MAX_MS);
  });

  it("a ticket queue delivers the next ticket after a worker's handler has failed", async () => {
    const queue = (await open()).queue(name);
    let calls = 0;
    (await open()).worker(name, async () => {
      calls += 1;
      if (calls === 1) throw new Error('a defect');
    });
    queue.add(['a']);
    await until(() => calls === 1);
    await until(() => {
      // A ticket that is added before the failure is stored is lost.
      queue.add(['b']);
      return calls >= 2;
    });
  });

  it('a worker of a ticket queue closes within two seconds, even while it handles a ticket', async () => {
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
