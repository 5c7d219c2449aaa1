import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoadMonitor } from '../../../ingress/work/load-monitor.ts';
import type { QueueSnapshot } from '../../../shared/domain/load.ts';
import { createLog } from '../../../shared/log.ts';
import { until } from '../../support/until.ts';

type Published = Omit<QueueSnapshot, 'at'>;

/** A pool that does nothing: `more` says what else there is. */
const published = (more: Partial<Published> = {}): Published => ({
  ageMs: 100,
  queuedByParty: new Map(),
  oldestMs: 0,
  claimed: 0,
  lastClaimMs: null,
  running: 0,
  workers: 1,
  slots: 16,
  ...more,
});
const NO_WORKER = published({ workers: 0, slots: 0 });

describe('the load monitor', () => {
  let monitor: LoadMonitor | undefined;
  afterEach(() => monitor?.close());

  function watching(read: () => Promise<Published | undefined>, isBusy = () => false): LoadMonitor {
    monitor = new LoadMonitor(read, isBusy, { deadlineMs: 10_000, log: createLog('web', 'silent') });
    return monitor;
  }

  it('refuses from the first look on when there is no worker, and no more soon after one came', async () => {
    let now = NO_WORKER;
    const load = watching(async () => now);
    assert.equal(load.retryAfterS('a'), undefined);
    await load.look();
    assert.equal(load.retryAfterS('a'), 10);
    now = published();
    await until(() => load.retryAfterS('a') === undefined, 1000);
  });

  it('says when a queue will be short enough', async () => {
    const queuedByParty = new Map([['flood', 900]]);
    const load = watching(async () =>
      published({ queuedByParty, oldestMs: 9000, running: 16, lastClaimMs: 5 }),
    );
    await load.look();
    assert.equal(load.retryAfterS('flood'), 3);
    assert.equal(load.retryAfterS('quiet'), undefined);
  });

  it('looks often while it is busy, and seldom while it is not', async () => {
    let looks = 0;
    let busy = false;
    watching(
      async () => {
        looks += 1;
        return published();
      },
      () => busy,
    );
    await sleep(900);
    assert.ok(looks <= 1, `${looks} looks while idle`);
    busy = true;
    await until(() => looks >= 5, 2500);
  });

  it('refuses nobody while nothing was published or the database is unreachable', async () => {
    const load = watching(async () => undefined);
    await load.look();
    assert.equal(load.retryAfterS('a'), undefined);
    load.close();

    let reachable = true;
    const other = watching(async () => {
      if (!reachable) throw new Error('unreachable');
      return NO_WORKER;
    });
    await other.look();
    reachable = false;
    await other.look();
    assert.equal(other.retryAfterS('a'), 10, 'what it knows holds for two seconds');
    await until(() => other.retryAfterS('a') === undefined, 4000);
  });
});
