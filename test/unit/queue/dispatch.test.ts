import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { createDispatch } from '../../../ingress/work/serve-kind.ts';
import { createLog } from '../../../shared/log.ts';
import type { Queues } from '../../../shared/queue/queues.ts';
import { openQueues } from '../../../shared/queue/queues.ts';
import { describeOnEachStore } from '../../support/queue-stores.ts';
import { until } from '../../support/until.ts';

describeOnEachStore('work dispatch', (store) => {
  let queues: Queues;
  before(async () => {
    queues = await openQueues(store().config(), createLog('test', 'silent'));
  });
  after(() => queues.close());

  it('dispatching 20 work items wakes the workers 20 times, and leaves one ticket in the queue', async () => {
    let woken = 0;
    const wake = () => {
      woken += 1;
    };
    const dispatch = createDispatch({ queue: queues.queue('many'), wake, queuedMs: () => 0 });
    for (let n = 0; n < 20; n += 1) {
      dispatch(`${n}`, 'app');
      await until(() => woken === n + 1);
    }
    await until(async () => (await store().waiting('many')) === 1);
  });
});

describe('dispatch wake-ups', () => {
  const queue = { add() {} };
  /** Dispatches work again and again for `ms` or more; returns the number of wake-ups and the elapsed time. */
  const dispatchFor = async (ms: number, queuedMs: number) => {
    let woken = 0;
    const wake = () => {
      woken += 1;
    };
    const dispatch = createDispatch({ queue, wake, queuedMs: () => queuedMs });
    const since = performance.now();
    for (let n = 0; performance.now() - since < ms; n += 1) {
      dispatch(`${n}`, 'app');
      if (n === 0) assert.equal(woken, 1, 'the first wake-up is sent at once');
      await setImmediate();
    }
    return { woken, tookMs: performance.now() - since };
  };

  it('dispatching wakes the workers at most every 2 ms, or every 20 ms if recent work was queued for seconds', async () => {
    const idle = await dispatchFor(100, 0);
    assert.ok(idle.woken > 5 && idle.woken <= 1 + idle.tookMs / 2, JSON.stringify(idle));
    const behind = await dispatchFor(100, 10_000);
    assert.ok(behind.woken >= 2 && behind.woken <= 1 + behind.tookMs / 20, JSON.stringify(behind));
  });

  it('a wake-up of the workers names each app that has queued work since the previous wake-up', async () => {
    const woken: (readonly string[])[] = [];
    const dispatch = createDispatch({ queue, wake: (parties) => woken.push(parties), queuedMs: () => 0 });
    dispatch('a', 'one');
    dispatch('b', 'one');
    dispatch('c', 'other');
    dispatch('d', 'one');
    await until(() => woken.length === 2);
    assert.deepEqual(woken, [['one'], ['one', 'other']]);
  });
});
