import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeWithRedis, useRedisServer } from '../support/redis-server.ts';
import { type System, type TestProcess, useProcesses } from '../support/system.ts';

const WATCHED_MS = 12_000;
const MAX_PER_SECOND = { onPostgres: 20, onRedis: 10 };
/** Time in which the processes complete the reads that they make when they start. */
const SETTLED_MS = 10_000;

/** Options of an ingress and a worker of all pools, with default schedules. */
const installationOptions = (redisUrl: string) => ({
  workerEntry: ['workers/main.ts', 'all'],
  env: { REDIS_URL: redisUrl, QUEUE_PREFIX: 'forecue', SYNC_EVERY: '', PROMOTE_EVERY: '', LEASE_MS: '' },
});

async function assertIdle(
  { database, webs, workers }: System<TestProcess>,
  maxPerSecond: number,
): Promise<void> {
  const transactions = async () => {
    const { rows } = await database.pool.query<{ n: number }>(
      `select (xact_commit + xact_rollback)::int as n from pg_stat_database where datname = current_database()`,
    );
    return rows[0]?.n ?? 0;
  };
  const perSecond = async () => {
    const [since, before] = [performance.now(), await transactions()];
    await sleep(WATCHED_MS);
    return (1000 * ((await transactions()) - before)) / (performance.now() - since);
  };
  await sleep(SETTLED_MS);
  // Takes the lower of two rates, since PostgreSQL also counts its own autovacuum.
  const least = Math.min(await perSecond(), await perSecond());
  const lines = [...webs, ...workers].flatMap(({ log }) => log.split('\n'));
  assert.deepEqual(
    lines.filter((line) => /"level":[456]0/.test(line)),
    [],
  );
  assert.ok(least <= maxPerSecond, `${least} transactions a second`);
}

describe('idle installation', function () {
  this.timeout(90_000);
  const system = useProcesses(installationOptions(''));

  it('an idle installation on PostgreSQL alone logs no warning and runs at most 20 transactions a second', () =>
    assertIdle(system, MAX_PER_SECOND.onPostgres));
});

describeWithRedis('idle installation on Redis', function () {
  this.timeout(90_000);
  const redis = useRedisServer();
  const system = useProcesses(() => installationOptions(redis.url));

  it('an idle installation with queues on Redis logs no warning and runs at most 10 transactions a second', () =>
    assertIdle(system, MAX_PER_SECOND.onRedis));
});
