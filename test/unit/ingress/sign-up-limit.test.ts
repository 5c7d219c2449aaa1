import assert from 'node:assert/strict';
import type { Limit, LimiterFactory } from '../../../ingress/limits/limiter.ts';
import { SignUpLimit } from '../../../ingress/limits/sign-up-limit.ts';
import { createLog } from '../../../shared/log.ts';

describe('sign-up limit', () => {
  /** Makes limiters that count exactly, in windows that never end. */
  const countingLimits = (): Pick<LimiterFactory, 'open'> => ({
    open(limit: Limit) {
      const used = new Map<string, number>();
      return {
        limit,
        async take(key) {
          const points = (used.get(key) ?? 0) + 1;
          used.set(key, points);
          return { allowed: points <= limit.points, remaining: limit.points - points, resetS: 3600 };
        },
        async refund() {},
      };
    },
  });

  const limitWithLog = ({ isOff }: { isOff: boolean }) => {
    const lines: string[] = [];
    const log = createLog('test', 'info', { write: (line) => void lines.push(line) });
    return { limit: new SignUpLimit(countingLimits(), log, { isOff }), lines };
  };

  it('the sign-up limit warns once when the installation makes more than a thousand accounts in an hour', async () => {
    const { limit, lines } = limitWithLog({ isOff: true });
    for (let n = 0; n < 1000; n += 1) await limit.countAccount();
    assert.deepEqual(lines, []);
    for (let n = 0; n < 10; n += 1) await limit.countAccount();
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"perHour":1000.*unusually many sign-ups/);
  });

  it('the sign-up limit counts per IPv6 network, not per address', async () => {
    const { limit } = limitWithLog({ isOff: false });
    for (let n = 0; n < 100; n += 1) await limit.countAttempt(`2001:db8::${n}`);
    await assert.rejects(limit.countAttempt('2001:db8::abcd'), { code: 'rate_limited', retryAfterS: 3600 });
    await limit.countAttempt('2001:db8:0:1::1');
  });

  it('the sign-up limit refuses no attempt if rate limits are off', async () => {
    const { limit } = limitWithLog({ isOff: true });
    for (let n = 0; n < 200; n += 1) await limit.countAttempt('198.51.100.7');
  });
});
