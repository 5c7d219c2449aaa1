import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../../shared/config/config.ts';
import { type RecentOverview, readRecentOverview } from '../../shared/db/stores/board/lately.ts';
import { type LiveKind, type LiveOverview, readLiveOverview } from '../../shared/db/stores/board/live.ts';
import { desiredWorkers } from '../../shared/domain/scaling.ts';
import { admissions } from '../../shared/metrics/work.ts';
import { type Kind, kindsOfPool } from '../../shared/work/kind.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { listRecurring, type RecurringWork } from '../../shared/work/recurring.ts';
import { DailySpending, type HourlySpending } from './spend.ts';

export interface BoardPool {
  pool: PoolName;
  queued: number;
  /** True if more than `queued` may be waiting, because counting stopped at a limit. */
  isMore: boolean;
  running: number;
  oldestS: number | null;
  workers: number;
  desired: number;
  slots: number;
  /** Claims per second since the previous read; undefined at the first read. */
  rate: number | undefined;
  /** Calls that this ingress has refused as overloaded since it started. */
  shed: number;
  pausedS: number | null;
}

/** Everything that the board shows. `at` is when the read began, in Unix milliseconds. */
export interface BoardSnapshot {
  at: number;
  pools: BoardPool[];
  live: LiveOverview;
  lately: RecentOverview;
  spend: { hours: HourlySpending[]; isWhole: boolean };
  recurring: RecurringWork[];
}

/** How much work each worker had claimed from each pool, since the worker started, at the time `at`. */
interface Claims {
  at: number;
  counts: Map<string, number>;
}

const KINDS = Object.values(kinds) as readonly Kind[];

/** Reads snapshots. Keeps the claim counts of the previous snapshot, to calculate claims per second. */
export class Snapshots {
  readonly #pool: Pool;
  readonly #spend: DailySpending;
  #claims: Claims | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#spend = new DailySpending(pool);
  }

  async read(): Promise<BoardSnapshot> {
    const at = Date.now();
    const names = KINDS.map(({ name }) => name);
    const [live, lately] = await Promise.all([
      readLiveOverview(this.#pool, KINDS),
      readRecentOverview(this.#pool, names),
    ]);
    const [spend, recurring] = await Promise.all([this.#spend.read(at), listRecurring(this.#pool)]);
    const [before, claims] = [this.#claims, claimsOf(live, at)];
    this.#claims = claims;
    const shed = await shedByKind();
    const pools = POOLS.map((pool) => ({
      ...loadOf(pool, live),
      rate: before && rateOf(pool, before, claims),
      shed: Object.keys(kindsOfPool(kinds, pool)).reduce((sum, kind) => sum + (shed.get(kind) ?? 0), 0),
    }));
    return { at, pools, live, lately, spend, recurring };
  }
}

function loadOf(pool: PoolName, { kinds: allLoads, processes, paused }: LiveOverview) {
  const own = Object.keys(kindsOfPool(kinds, pool));
  const ownLoads = allLoads.filter(({ kind }) => own.includes(kind));
  const sum = (count: (one: LiveKind) => number) => ownLoads.reduce((all, one) => all + count(one), 0);
  const serving = processes.flatMap((one) => (one.leaseS > 0 ? (one.pools[pool] ?? []) : []));
  const ages = ownLoads.flatMap(({ oldestS }) => oldestS ?? []);
  const load = {
    queued: sum(({ queued }) => queued),
    running: sum(({ running }) => running),
    workers: serving.length,
    slots: serving.reduce((all, { slots }) => all + slots, 0),
  };
  const oldestMs = Math.max(0, ...ages) * 1000;
  return {
    pool,
    ...load,
    isMore: ownLoads.some(({ isMore }) => isMore),
    oldestS: ages.length === 0 ? null : Math.max(...ages),
    desired: desiredWorkers({ ...load, oldestMs }),
    pausedS: paused.find((one) => one.pool === pool)?.pausedS ?? null,
  };
}

function claimsOf({ processes }: LiveOverview, at: number): Claims {
  const counts = new Map(
    processes.flatMap(({ id, pools }) =>
      Object.entries(pools).map(([pool, { claimed }]) => [`${pool} ${id}`, claimed] as const),
    ),
  );
  return { at, counts };
}

/** Returns the claims per second between two reads, without processes that only one of the reads found. */
function rateOf(pool: PoolName, before: Claims, now: Claims): number {
  const newClaims = [...now.counts].map(([key, claimed]) =>
    key.startsWith(`${pool} `) ? claimed - (before.counts.get(key) ?? claimed) : 0,
  );
  const seconds = (now.at - before.at) / 1000;
  return (
    Math.max(
      0,
      newClaims.reduce((sum, one) => sum + one, 0),
    ) / Math.max(seconds, 0.001)
  );
}

async function shedByKind(): Promise<Map<string, number>> {
  const { values } = await admissions.get();
  const shed = values.filter(({ labels }) => labels.decision === 'overloaded');
  return new Map(shed.map(({ labels, value }) => [String(labels.kind), value]));
}
