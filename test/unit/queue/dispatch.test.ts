import assert from 'node:assert/strict';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../shared/log.ts';
import { openQueues } from '../../../shared/queue/backend.ts';
import type { Queues } from '../../../shared/queue/queues.ts';
import { createDispatch } from '../../../shared/work/dispatch.ts';
import { describeOnEachStore } from '../../support/queue-stores.ts';
import { until } from '../../support/until.ts';

const ASLEEP = { wake() {}, queuedMs: () => 0 };

describeOnEachStore('the dispatch of new work', (store) => {
  let queues: Queues;
  before(async () => {
    queues = await openQueues(store().config(), createLog('test', 'silent'));
  });
  after(() => queues.close());

  it('wakes workers for each piece at once, and adds a few tickets for all', async () => {
    let woken = 0;
    const wake = () => {
      woken += 1;
    };
    const dispatch = createDispatch({ queue: queues.queue('many'), wake, queuedMs: () => 0 });
    const since = performance.now();
    const dispatched: Promise<void>[] = [];
    for (let n = 0; n < 50; n += 1) {
      dispatched.push(dispatch(`${n}`, 'app'));
      await until(() => woken === n + 1);
      await sleep(10);
    }
    await Promise.all(dispatched);
    const tickets = await store().waiting('many');
    const most = 2 + (performance.now() - since) / 200;
    assert.ok(tickets >= 2 && tickets <= most, `${tickets} tickets, not 2 to ${most}`);
  });

  it('adds the first ticket at once, and another one for work that came after it', async () => {
    const dispatch = createDispatch({ queue: queues.queue('two'), ...ASLEEP });
    await dispatch('a', 'app');
    assert.equal(await store().waiting('two'), 1);
    await dispatch('b', 'app');
    assert.equal(await store().waiting('two'), 2);
  });
});

describe('the wake-ups of a dispatch', () => {
  const queue = { add: async () => {}, count: async () => ({ waiting: 0, active: 0 }) };
  /** The wake-ups while work is dispatched again and again, and for how long that was, which is `ms` or more. */
  const during = async (ms: number, queuedMs: number) => {
    let woken = 0;
    const wake = () => {
      woken += 1;
    };
    const dispatch = createDispatch({ queue, wake, queuedMs: () => queuedMs });
    const since = performance.now();
    for (let n = 0; performance.now() - since < ms; n += 1) {
      void dispatch(`${n}`, 'app');
      if (n === 0) assert.equal(woken, 1, 'the first is sent at once');
      await setImmediate();
    }
    return { woken, tookMs: performance.now() - since };
  };

  it('are at least 2 ms apart, and further where work waits anyway', async () => {
    const idle = await during(100, 0);
    assert.ok(idle.woken > 5 && idle.woken <= 1 + idle.tookMs / 2, JSON.stringify(idle));
    const behind = await during(100, 10_000);
    assert.ok(behind.woken >= 2 && behind.woken <= 1 + behind.tookMs / 20, JSON.stringify(behind));
  });

  it('name each party that has queued something since the one before', async () => {
    const woken: (readonly string[])[] = [];
    const dispatch = createDispatch({ queue, wake: (parties) => woken.push(parties), queuedMs: () => 0 });
    void dispatch('a', 'one');
    void dispatch('b', 'one');
    void dispatch('c', 'other');
    void dispatch('d', 'one');
    await until(() => woken.length === 2);
    assert.deepEqual(woken, [['one'], ['one', 'other']]);
  });
});

describe('the dispatch to a queue that takes no ticket', () => {
  it('rejects after two seconds, for each piece', async () => {
    const silent = { add: () => new Promise<void>(() => {}), count: async () => ({ waiting: 0, active: 0 }) };
    const dispatch = createDispatch({ queue: silent, ...ASLEEP });
    const since = performance.now();
    const ended = await Promise.allSettled([dispatch('a', 'app'), dispatch('b', 'app')]);
    assert.ok(ended.every(({ status }) => status === 'rejected'));
    assert.ok(performance.now() - since < 4000);
  });
});
