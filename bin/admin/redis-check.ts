import type { RedisTarget } from '../../shared/config/redis-url.ts';
import { createLog } from '../../shared/log.ts';
import { connectRedis, evictionPolicy, SAFE_POLICY } from '../../shared/queue/redis.ts';
import { type Finding, fault, fine } from './check.ts';

const ANSWER_WITHIN_MS = 3000;

/** Checks that Redis answers in time, and that it refuses writes rather than dropping jobs when its memory is full. */
export async function checkRedis(target: RedisTarget): Promise<Finding> {
  const client = connectRedis(target, 'consumer', createLog('admin', 'silent'));
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), ANSWER_WITHIN_MS);
  try {
    const policy = await Promise.race([evictionPolicy(client), late]);
    if (policy === 'late') {
      return fault(
        `Redis does not answer within ${ANSWER_WITHIN_MS / 1000} s`,
        'start it, or correct REDIS_URL',
      );
    }
    const found = `Redis (${target.kind}), maxmemory-policy ${policy}`;
    return policy === SAFE_POLICY ? fine(found) : fault(found, `set maxmemory-policy to ${SAFE_POLICY}`);
  } finally {
    clearTimeout(timer);
    client.disconnect();
  }
}
