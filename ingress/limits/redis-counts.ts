import type { Count, Points } from '../../shared/db/stores/rate-limits.ts';
import type { RedisClient } from '../../shared/queue/redis.ts';

/** For each key: points, length of a new window, and the end of the window that they are for, or 0 for any. */
const COUNT = `
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local counts = {}
  for i, key in ipairs(KEYS) do
    local window = tonumber(ARGV[3 * i])
    local stored = redis.call('hmget', key, 'points', 'end')
    local points, ends = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
    if ends <= now then points, ends = 0, 0 end
    if window == 0 or window == ends then
      if ends == 0 then ends = now + ARGV[3 * i - 1] end
      points = points + ARGV[3 * i - 2]
      redis.call('hset', key, 'points', points, 'end', ends)
      redis.call('pexpireat', key, ends)
    end
    for _, number in ipairs({ points, math.max(ends - now, 0), ends }) do table.insert(counts, number) end
  end
  return counts`;

/** Counts points of any keys, in order. `prefix` holds a hash tag, so that a cluster has all keys in one place. */
export async function countInRedis(
  redis: RedisClient,
  prefix: string,
  batch: readonly Points[],
): Promise<Count[]> {
  const keys = batch.map(({ key }) => `${prefix}:${key}`);
  const values = batch.flatMap(({ points, windowMs, window = 0 }) => [points, windowMs, window]);
  const numbers = (await redis.eval(COUNT, keys.length, ...keys, ...values)) as number[];
  return batch.map((_, n) => {
    const [points = 0, leftMs = 0, window = 0] = numbers.slice(3 * n);
    return { points, leftMs, window };
  });
}
