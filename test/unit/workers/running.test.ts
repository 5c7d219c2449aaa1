import assert from 'node:assert/strict';
import { createLog } from '../../../shared/log.ts';
import { type HeldRows, RunningAttempts } from '../../../workers/work/running.ts';
import { until } from '../../support/until.ts';

describe('running attempts', () => {
  let running: RunningAttempts | undefined;
  afterEach(() => running?.close());

  it('a worker releases a row whose attempt ends while the row is being reclaimed, and continues its other attempts', async () => {
    const reclaiming = Promise.withResolvers<string[]>();
    const asked: string[] = [];
    const released: string[] = [];
    const rows: HeldRows = {
      readHeld: async () => new Map(),
      reclaim: async (attempts) => {
        asked.push(...attempts.keys());
        return reclaiming.promise;
      },
      release: async (ids) => void released.push(...ids),
    };
    running = new RunningAttempts(rows, createLog('test', 'silent'));
    const [ended, goesOn] = [
      { id: 'ended', attempt: 1 },
      { id: 'goes on', attempt: 1 },
    ];
    const { signal: endedSignal } = running.begin(ended);
    const { signal } = running.begin(goesOn);
    running.look();
    await until(() => asked.length === 2);
    running.finish(ended.id, endedSignal);
    reclaiming.resolve(asked);
    await until(() => released.length > 0);
    assert.deepEqual(released, ['ended']);
    assert.equal(signal.aborted, false);
  });

  const claimedAgain = { 'a run of a later attempt': 2, 'another run of the same attempt': 1 };
  for (const [name, attempt] of Object.entries(claimedAgain))
    it(`a run of work is aborted when ${name} begins, and the end of the aborted run does not affect the new one`, async () => {
      const released: string[] = [];
      const rows: HeldRows = {
        readHeld: async () => new Map([['work', attempt]]),
        reclaim: async () => [],
        release: async (ids) => void released.push(...ids),
      };
      running = new RunningAttempts(rows, createLog('test', 'silent'));
      const earlier = running.begin({ id: 'work', attempt: 1 }).signal;
      const later = running.begin({ id: 'work', attempt }).signal;
      assert.deepEqual([earlier.aborted, later.aborted], [true, false]);
      running.park('work', earlier);
      await running.relinquishParked();
      running.finish('work', earlier);
      assert.deepEqual([released, later.aborted], [[], false]);
      running.park('work', later);
      await running.relinquishParked();
      assert.deepEqual([released, later.aborted], [['work'], true]);
    });

  it('a worker releases the work of a claim whose answer was lost, even if the claim takes effect late', async () => {
    const held = new Map<string, number>();
    const released: string[] = [];
    let comparisons = 0;
    const rows: HeldRows = {
      readHeld: async () => {
        comparisons += 1;
        return new Map(held);
      },
      reclaim: async () => [],
      release: async (ids) => void released.push(...ids),
    };
    running = new RunningAttempts(rows, createLog('test', 'silent'));
    running.claimLost();
    running.look();
    await until(() => comparisons === 1);
    held.set('late', 1);
    await until(() => released.length > 0);
    assert.deepEqual(released, ['late']);
  });
});
