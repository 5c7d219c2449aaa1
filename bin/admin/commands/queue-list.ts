import { countKinds } from '../../../shared/db/stores/work/operate.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { poolReader } from '../../../shared/work/pool-load.ts';
import { listRecurring } from '../../../shared/work/recurring.ts';
import { type Admin, command, type Outcome } from '../command.ts';
import { table } from '../text.ts';

export const queueList = command({
  summary: 'List pools, kinds of work and recurring jobs',
  read: () => listQueue,
});

async function listQueue(admin: Admin): Promise<Outcome> {
  const [pools, work, recurring] = await Promise.all([
    listPools(admin),
    listKinds(admin),
    recurringRows(admin),
  ]);
  const text = [
    table(pools, ['pool', 'state', 'workers', 'slots']),
    table(work, ['kind', 'pool', 'waiting', 'running', 'oldest_s', 'failed_24h']),
    table(recurring, ['recurring', 'every', 'last', 'next']),
  ].join('\n\n');
  return { data: { pools, kinds: work, recurring }, text };
}

async function listPools({ database }: Admin) {
  const pools = await poolReader(database.pool, kinds)();
  return pools.map(({ pool, pausedAt, workers, slots }) => ({
    pool,
    state: pausedAt === null ? 'open' : 'paused',
    paused_at: isoTimeOf(pausedAt),
    workers,
    slots,
  }));
}

async function listKinds({ database }: Admin) {
  const all = Object.values(kinds);
  const counts = await countKinds(
    database.pool,
    all.map(({ name }) => name),
  );
  return counts.map(({ kind, waiting, running, oldestS, failed }) => ({
    kind,
    pool: all.find(({ name }) => name === kind)?.pool,
    waiting,
    running,
    oldest_s: oldestS,
    failed_24h: failed,
  }));
}

async function recurringRows({ database }: Admin) {
  const recurring = await listRecurring(database.pool);
  return recurring.map(({ name, every, last, next }) => ({
    recurring: name,
    every,
    last: isoTimeOf(last),
    next: isoTimeOf(next),
  }));
}

function isoTimeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
