import type { RedisTarget } from '../config/redis-url.ts';
import { connectRedis, evictionPolicy, SAFE_POLICY } from '../jobs/redis.ts';
import { createLog } from '../log.ts';
import { type Finding, fault, fine } from './check.ts';

const PATIENCE_MS = 3000;

/** Whether Redis answers in time, and would rather refuse than drop jobs. */
export async function checkRedis(target: RedisTarget): Promise<Finding> {
  const client = connectRedis(target, 'consumer', createLog('admin', 'silent'));
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), PATIENCE_MS);
  try {
    const policy = await Promise.race([evictionPolicy(client), late]);
    if (policy === 'late') {
      return fault(`Redis does not answer within ${PATIENCE_MS / 1000} s`, 'start it, or correct REDIS_URL');
    }
    const found = `Redis (${target.kind}), maxmemory-policy ${policy}`;
    return policy === SAFE_POLICY ? fine(found) : fault(found, `set maxmemory-policy to ${SAFE_POLICY}`);
  } finally {
    clearTimeout(timer);
    client.disconnect();
  }
}
