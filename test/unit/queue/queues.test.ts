import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../shared/log.ts';
import { openQueues } from '../../../shared/queue/backend.ts';
import type { Queues, TicketWorker } from '../../../shared/queue/queues.ts';
import { describeOnEachStore } from '../../support/queue-stores.ts';
import { until } from '../../support/until.ts';

const LOG = createLog('test', 'silent');
/** Well under the second after which a worker polls by itself. */
const PROMPTLY_MS = 500;

describeOnEachStore('a queue of tickets', (store) => {
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
  /** A worker of its own process whose calls of `take` end when the test says so. */
  const startWorker = async () => {
    const pending: (() => void)[] = [];
    let calls = 0;
    const queues = await open();
    const worker = queues.worker(name, () => {
      calls += 1;
      return new Promise((resolve) => pending.push(resolve));
    });
    await untilItListens(worker);
    return { worker, calls: () => calls, release: () => pending.shift()?.(), pending: () => pending.length };
  };

  it('goes to a process with free slots, and not to a full one', async () => {
    const queue = (await open()).queue(name);
    const workers = [await startWorker(), await startWorker()] as const;
    await Promise.all([queue.add(['a']), queue.add(['b'])]);
    await until(() => workers.every(({ pending }) => pending() === 1));
    await queue.add(['c']);
    // Longer than an idle worker needs to poll.
    await sleep(1500);
    assert.deepEqual([workers[0].calls(), workers[1].calls(), await store().waiting(name)], [1, 1, 1]);
    workers[1].release();
    await until(() => workers[1].calls() === 2);
    assert.equal(workers[0].calls(), 1);
  });

  it('goes promptly to any idle process, while others add tickets too', async () => {
    const producers = await Promise.all([open(), open(), open()]);
    const queues = producers.map((one) => one.queue(name));
    const waiters: (() => void)[] = [];
    for (let n = 0; n < 4; n += 1) {
      const worker = (await open()).worker(name, async () => waiters.shift()?.());
      await untilItListens(worker);
    }
    for (let n = 0; n < 30; n += 1) {
      const took = queues.map(async (queue) => {
        const since = performance.now();
        const taken = new Promise<void>((resolve) => waiters.push(resolve));
        await queue.add([`${n}`]);
        await taken;
        return performance.now() - since;
      });
      const longest = Math.max(...(await Promise.all(took)));
      assert.ok(longest < PROMPTLY_MS, `${longest} ms`);
      await sleep(20 * Math.random());
    }
  });

  it('does not grow without bound, and serves the latest too', async () => {
    const producers = await Promise.all([open(), open()]);
    const queues = producers.map((one) => one.queue(name));
    for (let n = 0; n < 150; n += 1) {
      await Promise.all(queues.map((queue) => queue.add([`${n}`])));
    }
    const waiting = await store().waiting(name);
    assert.ok(waiting >= 100 && waiting <= 100 + 2 * 50, `${waiting} wait`);

    let taken = 0;
    const worker = (await open()).worker(name, async () => {
      taken += 1;
    });
    await until(() => taken === waiting, 20_000);
    await untilItListens(worker);
    await queues[1]?.add(['one more']);
    await until(() => taken === waiting + 1, PROMPTLY_MS);
  });

  it('is not stopped by a take that rejects', async () => {
    const queue = (await open()).queue(name);
    let calls = 0;
    (await open()).worker(name, async () => {
      calls += 1;
      if (calls === 1) throw new Error('a defect');
    });
    await Promise.all([queue.add(['a']), queue.add(['b'])]);
    await until(() => calls === 2);
  });

  it('answers an idle worker of BullMQ 6.7 about once a second, so that silence means a fault', async () => {
    const { worker, release, pending } = await startWorker();
    const seen: number[] = [];
    for (const end = performance.now() + 4000; performance.now() < end; await sleep(20))
      seen.push(worker.silentMs);
    assert.ok(Math.max(...seen) < 2500, `${Math.max(...seen)} ms`);
    const answers = seen.filter((ms, n) => ms < (seen[n - 1] ?? 0)).length;
    assert.ok(answers >= 2, `${answers} answers`);

    await (await open()).queue(name).add(['a']);
    await until(() => pending() === 1);
    await sleep(100);
    assert.equal(worker.silentMs, 0);
    release();
    await until(() => worker.silentMs > 0);
  });

  it('gets tickets back from a process that closes', async () => {
    const queue = (await open()).queue(name);
    let taken = 0;
    const take = async () => {
      taken += 1;
    };
    for (let n = 0; n < 10; n += 1) {
      taken = 0;
      const leaving = (await open()).worker(name, take);
      await untilItListens(leaving);
      const added = queue.add(['a']);
      await sleep(5 * Math.random());
      await Promise.all([leaving.close(), added]);
      const staying = (await open()).worker(name, take);
      await until(() => taken === 1, 3000);
      await staying.close();
    }
  });

  it('lets a process close while it holds a ticket', async () => {
    const { worker, pending } = await startWorker();
    await (await open()).queue(name).add(['a']);
    await until(() => pending() === 1);
    const since = performance.now();
    await worker.close();
    assert.ok(performance.now() - since < 1000);
    assert.equal(await store().waiting(name), 0);
  });
});

/** It has fetched twice. */
async function untilItListens(worker: TicketWorker): Promise<void> {
  let last = 0;
  let answers = 0;
  await until(() => {
    const now = worker.silentMs;
    if (now < last) answers += 1;
    last = now;
    return answers >= 2;
  });
}
