import type { TestDatabase } from './database.ts';
import { queueOnRedis } from './redis.ts';
import type { TestQueue } from './test-queue.ts';
import { dropWakeUps } from './wake-up-proxy.ts';

/** Creates a queue on the Redis at `TEST_REDIS_URL`, or else on the test's own PostgreSQL. */
export async function createQueue(
  database: TestDatabase,
  options: { withoutWakeUps: boolean },
): Promise<TestQueue> {
  const redis = process.env['TEST_REDIS_URL'];
  return redis ? queueOnRedis(redis, options) : queueOnPostgres(database, options);
}

async function queueOnPostgres(
  { url, pool }: TestDatabase,
  { withoutWakeUps }: { withoutWakeUps: boolean },
): Promise<TestQueue> {
  const proxy = withoutWakeUps ? await dropWakeUps(url) : undefined;
  const count = async (statement: string, values: string[] = []) =>
    (await pool.query<{ n: number }>(`select count(*)::int as n from ${statement}`, values)).rows[0]?.n ?? 0;
  return {
    env: { DATABASE_DIRECT_URL: proxy?.url ?? url },
    droppedWakeUps: async (channel) => proxy?.dropped(channel) ?? 0,
    async holds(text) {
      const { rows } = await pool.query<{ name: string }>(
        `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'forecue_queue'`,
      );
      const counts = await Promise.all(
        rows.map(({ name }) => count(`forecue_queue.${name} t where strpos(t::text, $1) > 0`, [text])),
      );
      if (counts.length === 0) throw new Error('the queue has no tables');
      return counts.some((n) => n > 0);
    },
    // Nothing to monitor: the tables hold everything that was sent.
    listen: async () => {},
    jobs: () => count(`forecue_queue.job where state in ('waiting', 'active')`),
    async close() {
      await proxy?.close();
    },
  };
}
