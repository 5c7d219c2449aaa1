import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoadMonitor } from '../../../ingress/work/load-monitor.ts';
import type { LoadRow } from '../../../shared/db/stores/work/load.ts';
import { createLog } from '../../../shared/log.ts';
import { batchReply, kinds, predict, reply } from '../../../shared/work/kinds.ts';
import { until } from '../../support/until.ts';

/** Makes the load of a kind with an empty queue, changed by `more`. */
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
/** The load of a flooding party while all slots are full and one is freed every 10 ms. */
const FLOODED_LOAD = { queued: 900, standing: 1, oldestMs: 9000, running: 16, lastClaimMs: 5 };

describe('load monitor', () => {
  let monitor: LoadMonitor | undefined;
  let canJudge: boolean;
  beforeEach(() => {
    canJudge = true;
  });
  afterEach(() => monitor?.close());

  function monitorOf(read: () => Promise<LoadRow[]>, isBusy = () => false): LoadMonitor {
    monitor = new LoadMonitor(kinds, {
      read,
      isBusy,
      deadlineMs: () => 10_000,
      canJudge: () => canJudge,
      log: createLog('web', 'silent'),
    });
    return monitor;
  }

  it('the load monitor refuses calls while no worker lives, and accepts calls within 1 s after a worker starts', async () => {
    let now = NO_WORKER;
    const load = monitorOf(async () => now);
    assert.equal(load.maxQueued('predict'), Number.POSITIVE_INFINITY);
    await load.poll();
    assert.equal(load.maxQueued('predict'), -1);
    assert.equal(load.retryAfterS('predict', 0), 10);
    now = [rowOf(predict)];
    await until(() => load.maxQueued('predict') > 0, 1000);
  });

  it('the load monitor refuses no call for lack of a worker while an outage may have stopped heartbeats', async () => {
    canJudge = false;
    const load = monitorOf(async () => NO_WORKER);
    await load.poll();
    assert.equal(load.maxQueued('predict'), Number.POSITIVE_INFINITY);
    canJudge = true;
    await load.poll();
    assert.equal(load.maxQueued('predict'), -1);
  });

  it('if a slot is freed every 10 ms, a party may queue 650 calls, and a party with 900 is asked to retry in 3 s', async () => {
    const load = monitorOf(async () => [rowOf(predict, FLOODED_LOAD)]);
    await load.poll();
    assert.equal(load.maxQueued('predict'), 650);
    assert.equal(load.retryAfterS('predict', 900), 3);
    assert.equal(load.retryAfterS('predict', 0), 1);
  });

  it('the load monitor counts the queued work of all kinds in a pool, and of no other pool', async () => {
    const halves = { ...FLOODED_LOAD, queued: 450, running: 8 };
    const load = monitorOf(async () => [rowOf(predict, halves), rowOf(reply, halves), rowOf(batchReply)]);
    await load.poll();
    assert.equal(load.maxQueued('predict'), 325, 'the other class gets every second slot');
    assert.equal(load.maxQueued('reply'), 325);
    assert.equal(load.maxQueued('batch_reply'), Number.POSITIVE_INFINITY);
  });

  it("the load monitor derives the time in the queue, and a party's maximum queue, from work that has ended", async () => {
    const load = monitorOf(async () => [rowOf(predict, FLOODED_LOAD)]);
    await load.poll();
    for (let n = 0; n < 100; n += 1) load.noteServed('predict', 6000, 4000);
    assert.equal(load.queuedMs('predict'), 4000);
    assert.equal(load.maxQueued('predict'), 500);
  });

  it('the load monitor reads the load often while its ingress is busy, and seldom while its ingress is idle', async () => {
    let looks = 0;
    let busy = false;
    monitorOf(
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

  it('the load monitor stops refusing calls two seconds after its last successful read of the load', async () => {
    let reachable = true;
    const load = monitorOf(async () => {
      if (!reachable) throw new Error('unreachable');
      return NO_WORKER;
    });
    await load.poll();
    reachable = false;
    await load.poll();
    assert.equal(load.maxQueued('predict'), -1, 'the last load holds for two seconds');
    await until(() => load.maxQueued('predict') > 0, 4000);
  });
});
