import { POOLS } from '../../../shared/config/pools.ts';
import { leaseRounds } from '../../../shared/db/stores/lease.ts';
import { listSchedules } from '../../../shared/db/stores/schedules.ts';
import { countKinds, poolStates } from '../../../shared/db/stores/work/operate.ts';
import { HOUSEKEEPING } from '../../../shared/work/housekeeper.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { SCHEDULES } from '../../../shared/work/schedules.ts';
import { type Admin, command, type Outcome } from '../command.ts';
import { table } from '../text.ts';

export const queueList = command({
  synopsis: '',
  options: {},
  operands: 0,
  read: () => list,
});

async function list(admin: Admin): Promise<Outcome> {
  const [pools, work, recurring] = await Promise.all([
    listPools(admin),
    listKinds(admin),
    listRecurring(admin),
  ]);
  const text = [
    table(pools, ['pool', 'state', 'workers', 'slots']),
    table(work, ['kind', 'pool', 'waiting', 'running', 'oldest_s', 'failed_24h']),
    table(recurring, ['recurring', 'every', 'last', 'next']),
  ].join('\n\n');
  return { data: { pools, kinds: work, recurring }, text };
}

async function listPools({ database }: Admin) {
  const states = await poolStates(database.pool, POOLS);
  const byName = new Map(states.map((state) => [state.pool, state]));
  return POOLS.map((pool) => {
    const { workers = 0, slots = 0, pausedAt = null } = byName.get(pool) ?? {};
    return {
      pool,
      state: pausedAt === null ? 'open' : 'paused',
      paused_at: moment(pausedAt),
      workers,
      slots,
    };
  });
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

/** The schedules, and the rounds of the housekeeping, which have no ticks. */
async function listRecurring({ database }: Admin) {
  const [planted, rounds] = await Promise.all([
    listSchedules(database.pool),
    leaseRounds(database.pool, HOUSEKEEPING),
  ]);
  const schedules = Object.keys(SCHEDULES).map((recurring) => {
    const found = planted.find(({ name }) => name === recurring);
    return {
      recurring,
      every: found?.pattern ?? 'off',
      last: moment(found?.lastTick ?? null),
      next: moment(found?.nextTick ?? null),
    };
  });
  const maintenance = Object.entries(rounds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { everyMs, last }]) => ({
      recurring: `${HOUSEKEEPING}: ${name}`,
      every: `${everyMs / 1000} s`,
      last: moment(last),
      next: null,
    }));
  return [...schedules, ...maintenance];
}

function moment(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
