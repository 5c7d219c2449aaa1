import type { Pool } from 'pg';
import { type ProviderState, readProviderStates } from '../../shared/db/stores/board/last-hour.ts';
import {
  type HourlySpending,
  type RecentOverview,
  readRecentOverview,
} from '../../shared/db/stores/board/lately.ts';
import { type LiveOverview, readLiveOverview } from '../../shared/db/stores/board/live.ts';
import { desiredWorkers } from '../../shared/domain/scaling.ts';
import { admissions } from '../../shared/metrics/work.ts';
import { type Kind, kindNamesOfPool, kindsOfPool } from '../../shared/work/kind.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { type PoolReading, poolReader } from '../../shared/work/pool-load.ts';
import { listRecurring, type RecurringWork } from '../../shared/work/recurring.ts';
import { LastHour, type LastHourRow } from './last-hour.ts';
import { DailySpending } from './spend.ts';

export interface BoardPool extends PoolReading {
  desired: number;
  /** Calls that this ingress has refused as overloaded since it started. */
  shed: number;
}

/** Everything that the board shows. `at` is when the read began, in Unix milliseconds. */
export interface BoardSnapshot {
  at: number;
  pools: BoardPool[];
  live: LiveOverview;
  lately: RecentOverview;
  spend: { hours: HourlySpending[]; isWhole: boolean };
  /** Limit on `lately.tokensToday`; null if there is none. */
  tokenQuota: number | null;
  recurring: RecurringWork[];
  /** Models that were called in the last quarter of an hour. */
  providers: ProviderState[];
  /** Calls that people and apps wait for, by minute. */
  minutes: LastHourRow[];
}

const KINDS = Object.values(kinds) as readonly Kind[];
const PROVIDER_LOOK_BACK_MS = 15 * 60_000;

/** The returned function reads a snapshot. */
export function snapshotReader(pool: Pool, tokenQuota: number | null): () => Promise<BoardSnapshot> {
  const dailySpending = new DailySpending(pool);
  const lastHour = new LastHour(pool, kindNamesOfPool(kinds, 'predict'));
  const readPools = poolReader(pool, kinds);
  return async () => {
    const at = Date.now();
    const names = KINDS.map(({ name }) => name);
    const [live, lately] = await Promise.all([
      readLiveOverview(pool, KINDS),
      readRecentOverview(pool, names),
    ]);
    const [spend, recurring] = await Promise.all([dailySpending.read(at), listRecurring(pool)]);
    const [providers, minutes] = await Promise.all([
      readProviderStates(pool, at - PROVIDER_LOOK_BACK_MS),
      lastHour.read(at),
    ]);
    const shed = await shedByKind();
    const shedIn = ({ pool: name }: PoolReading) =>
      Object.keys(kindsOfPool(kinds, name)).reduce((sum, kind) => sum + (shed.get(kind) ?? 0), 0);
    const pools = (await readPools()).map((reading) => {
      return { ...reading, desired: desiredWorkers(reading), shed: shedIn(reading) };
    });
    return { at, pools, live, lately, spend, tokenQuota, recurring, providers, minutes };
  };
}

async function shedByKind(): Promise<Map<string, number>> {
  const { values } = await admissions.get();
  const shed = values.filter(({ labels }) => labels.decision === 'overloaded');
  return new Map(shed.map(({ labels, value }) => [String(labels.kind), value]));
}
