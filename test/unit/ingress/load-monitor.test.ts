import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoadMonitor } from '../../../ingress/work/load-monitor.ts';
import type { LoadRow } from '../../../shared/db/stores/work/load.ts';
import { createLog } from '../../../shared/log.ts';
import { batchReply, kinds, predict, reply } from '../../../shared/work/kinds.ts';
import { until } from '../../support/until.ts';

/** A kind of which nothing waits: `more` says what else there is. */
const rowOf = ({ name }: { name: string }, more: Partial<LoadRow> = {}): LoadRow => ({
  kind: name,
  queued: 0,
  standing: 0,
  queues: [],
  running: 0,
  oldestMs: 0,
  lastClaimMs: null,
  workers: 1,
  slots: 16,
  claimed: 0,
  ...more,
});
const NO_WORKER = [rowOf(predict, { workers: 0, slots: 0 })];
/** A party that floods full slots, of which one answer comes each 10 ms. */
const FLOODED = { queued: 900, standing: 1, oldestMs: 9000, running: 16, lastClaimMs: 5 };

describe('load monitor', () => {
  let monitor: LoadMonitor | undefined;
  let canJudge: boolean;
  beforeEach(() => {
    canJudge = true;
  });
  afterEach(() => monitor?.close());

  function watching(read: () => Promise<LoadRow[]>, isBusy = () => false): LoadMonitor {
    monitor = new LoadMonitor(kinds, {
      read,
      isBusy,
      deadlineMs: () => 10_000,
      canJudge: () => canJudge,
      log: createLog('web', 'silent'),
    });
    return monitor;
  }

  it('the load monitor refuses from the first look on when there is no worker, and no more soon after one came', async () => {
    let now = NO_WORKER;
    const load = watching(async () => now);
    assert.equal(load.mostQueued('predict'), Number.POSITIVE_INFINITY);
    await load.look();
    assert.equal(load.mostQueued('predict'), 0);
    assert.equal(load.retryAfterS('predict', 0), 10);
    now = [rowOf(predict)];
    await until(() => load.mostQueued('predict') > 0, 1000);
  });

  it('the load monitor refuses nobody for want of a worker while an outage may have kept the workers from beating', async () => {
    canJudge = false;
    const load = watching(async () => NO_WORKER);
    await load.look();
    assert.equal(load.mostQueued('predict'), Number.POSITIVE_INFINITY);
    canJudge = true;
    await load.look();
    assert.equal(load.mostQueued('predict'), 0);
  });

  it('the load monitor says how much of a party may wait, and when a queue will be short enough', async () => {
    const load = watching(async () => [rowOf(predict, FLOODED)]);
    await load.look();
    assert.equal(load.mostQueued('predict'), 650);
    assert.equal(load.retryAfterS('predict', 900), 3);
    assert.equal(load.retryAfterS('predict', 0), 1);
  });

  it('the load monitor counts what waits of all kinds of a pool, and of no other pool', async () => {
    const halves = { ...FLOODED, queued: 450, running: 8 };
    const load = watching(async () => [rowOf(predict, halves), rowOf(reply, halves), rowOf(batchReply)]);
    await load.look();
    assert.equal(load.mostQueued('predict'), 325, 'the other class gets every second slot');
    assert.equal(load.mostQueued('reply'), 325);
    assert.equal(load.mostQueued('batch_reply'), Number.POSITIVE_INFINITY);
  });

  it('the load monitor learns how long the work of a kind takes and was queued', async () => {
    const load = watching(async () => [rowOf(predict, FLOODED)]);
    await load.look();
    for (let n = 0; n < 100; n += 1) load.served('predict', 6000, 4000);
    assert.equal(load.queuedMs('predict'), 4000);
    assert.equal(load.mostQueued('predict'), 500);
  });

  it('the load monitor looks often while it is busy, and seldom while it is not', async () => {
    let looks = 0;
    let busy = false;
    watching(
      async () => {
        looks += 1;
        return [rowOf(predict)];
      },
      () => busy,
    );
    await sleep(900);
    assert.ok(looks <= 1, `${looks} looks while idle`);
    busy = true;
    await until(() => looks >= 5, 2500);
  });

  it('the load monitor refuses nobody while the database is unreachable', async () => {
    let reachable = true;
    const load = watching(async () => {
      if (!reachable) throw new Error('unreachable');
      return NO_WORKER;
    });
    await load.look();
    reachable = false;
    await load.look();
    assert.equal(load.mostQueued('predict'), 0, 'what it knows holds for two seconds');
    await until(() => load.mostQueued('predict') > 0, 4000);
  });
});
