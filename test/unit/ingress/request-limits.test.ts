import assert from 'node:assert/strict';
import type { Limit, LimiterFactory } from '../../../ingress/limits/limiter.ts';
import { requestLimits } from '../../../ingress/limits/request-limits.ts';

function openedLimits(rps: number, burst: number): Map<string, Limit> {
  const found = new Map<string, Limit>();
  const limits: LimiterFactory = {
    open: () => assert.fail('every request would ask the store'),
    lease(limit) {
      found.set(limit.name, limit);
      return {
        limit,
        take: async () => ({ allowed: true, remaining: 0, resetS: 1 }),
        refusal: () => undefined,
      };
    },
    async close() {},
  };
  requestLimits({ rps, burst }, limits);
  return found;
}

describe('RATE_LIMIT_RPS and RATE_LIMIT_BURST', () => {
  it('RATE_LIMIT_RPS and RATE_LIMIT_BURST give a window of whole seconds that allows the rate and at least the burst', () => {
    const windows: [rps: number, burst: number, points: number, windowS: number][] = [
      [50, 100, 100, 2],
      [50, 120, 150, 3],
      [1, 20, 20, 20],
      [100, 100, 100, 1],
      [100, 1, 100, 1],
    ];
    for (const [rps, burst, points, windowS] of windows) {
      const limit = openedLimits(rps, burst).get('app');
      assert.deepEqual([limit?.points, limit?.windowS], [points, windowS], `${rps}, ${burst}`);
    }
  });

  it('RATE_LIMIT_RPS and RATE_LIMIT_BURST open three limits: per app, per account and per address', () => {
    assert.deepEqual([...openedLimits(1, 1).keys()], ['app', 'user', 'address']);
  });

  it('no request limiter is opened if rate limits are off', async () => {
    const limits: LimiterFactory = {
      open: () => assert.fail('a limiter was opened'),
      lease: () => assert.fail('a limiter was opened'),
      close: async () => {},
    };
    requestLimits(undefined, limits);
  });
});
