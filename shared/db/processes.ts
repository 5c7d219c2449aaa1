import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../config/config.ts';
import type { PublishedSettings } from '../config/published-settings.ts';
import { newId } from '../ids.ts';
import type { Log } from '../log.ts';
import { watchClock } from '../metrics/process.ts';
import { every, type Repetition } from '../timing/every.ts';
import { query } from './statement.ts';

/**
 * `since` is the time since which the process's heartbeats have had no gap of half a lease or more. Only a process
 * without such a gap for at least a lease may declare others dead: just after an outage, other processes may not have
 * had time for a heartbeat yet. If the clock was set back to before `since`, the time begins anew.
 */
const STORE_HEARTBEAT = {
  name: 'beat_v1',
  text: `insert into processes (id, kind, alive_until, since, pools, settings)
         values ($1::uuid, $2, clock_timestamp() + make_interval(secs => $3 / 1000.0), clock_timestamp(), $4::jsonb, $5::jsonb)
         on conflict (id) do update
            set alive_until = excluded.alive_until, pools = excluded.pools, settings = excluded.settings,
                since = case when processes.alive_until > excluded.since + make_interval(secs => $3 / 2000.0)
                             then least(processes.since, excluded.since) else excluded.since end
         returning array(select pool from paused_pools) as paused,
                   (select json_object_agg(p, stalled_ms_v1(p)) from unnest($6::text[]) p) as stalled,
                   (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
};

const END_LEASE = {
  name: 'leave_v1',
  text: 'update processes set alive_until = now(), pools = null where id = $1::uuid',
};

const HEARTBEATS_PER_LEASE = 7;
const HEARTBEAT_INTERVAL_MAX_MS = 700;
/** A process whose latest heartbeat was stored longer ago is not ready. */
const STORED_WITHIN_MS = 2000;

/**
 * Pools that a worker serves. `claimed` counts the work that the worker has claimed since it started; `stalledMs` is the
 * time for which it has had no free slot and claimed nothing.
 */
export type ServedPools = Record<string, { slots: number; claimed: number; stalledMs: number }>;

type HeartbeatRow = { paused: string[]; stalled: Record<string, number | null>; now: number };

/** Renews the lease on this process's work. When the process stops or dies, other processes take its work over. */
export class Heartbeat {
  readonly id = newId();
  readonly #pool: Pool;
  readonly #kind: string;
  readonly #leaseMs: number;
  readonly #settings: PublishedSettings;
  readonly #log: Log;
  #servedPools: () => ServedPools = () => ({});
  #pausedPools: ReadonlySet<string> = new Set();
  #stalledMs: Readonly<Record<string, number | null>> = {};
  #isFailing = false;
  #storedAt = performance.now();
  #clockAheadMs = 0;
  #recoveredAt = Number.NEGATIVE_INFINITY;
  #repetition: Repetition | undefined;

  constructor(pool: Pool, options: { kind: string; leaseMs: number; settings: PublishedSettings; log: Log }) {
    this.#pool = pool;
    this.#kind = options.kind;
    this.#leaseMs = options.leaseMs;
    this.#settings = options.settings;
    this.#log = options.log;
  }

  /** Resolves when the process's row is stored. The process must not admit or claim work before. */
  async start(): Promise<void> {
    await this.#beat();
    const intervalMs = Math.min(this.#leaseMs / HEARTBEATS_PER_LEASE, HEARTBEAT_INTERVAL_MAX_MS);
    this.#repetition = every(
      intervalMs,
      async () => {
        await this.#beat();
        this.#noteOutcome(true);
      },
      {
        onError: (error) => {
          this.#log.warn({ err: error }, 'heartbeat failed');
          this.#noteOutcome(false);
        },
      },
    );
  }

  /** Milliseconds since the last stored heartbeat. */
  get silentMs(): number {
    return performance.now() - this.#storedAt;
  }

  /** Rejects unless heartbeats are stored, because the database does not answer or takes no writes. */
  async assertStored(): Promise<void> {
    if (this.#isFailing || this.silentMs > STORED_WITHIN_MS) throw new Error('heartbeats are not stored');
  }

  /** Milliseconds since heartbeats began to succeed again: Infinity if none has failed, 0 while they fail. */
  get recoveredMs(): number {
    return this.#isFailing ? 0 : performance.now() - this.#recoveredAt;
  }

  /** The pools that an operator has paused, as of the latest heartbeat. */
  get pausedPools(): ReadonlySet<string> {
    return this.#pausedPools;
  }

  /** Milliseconds for which no worker of the pool could take work, as of the latest heartbeat; undefined: no worker. */
  stalledMs(pool: PoolName): number | undefined {
    return this.#stalledMs[pool] ?? undefined;
  }

  /** Milliseconds by which this machine's clock is ahead of the database's, as far as known; negative if behind. */
  get clockAheadMs(): number {
    return this.#clockAheadMs;
  }

  #noteOutcome(succeeded: boolean): void {
    if (succeeded && this.#isFailing) this.#recoveredAt = performance.now();
    this.#isFailing = !succeeded;
  }

  /** Makes the heartbeat report the pools that this process serves. */
  async serve(served: () => ServedPools): Promise<void> {
    this.#servedPools = served;
    await this.#beat();
  }

  async stop(): Promise<void> {
    await this.#repetition?.stop();
    await query(this.#pool, END_LEASE, [this.id]).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'could not end the lease; it runs out by itself'),
    );
  }

  async #beat(): Promise<void> {
    const description: ProcessDescription = {
      ...this.#settings,
      clock_ahead_s: Math.round(this.#clockAheadMs / 1000),
    };
    const json = [this.#servedPools(), description].map((value) => JSON.stringify(value));
    const values = [this.id, this.#kind, this.#leaseMs, ...json, POOLS];
    const before = Date.now();
    const [row] = await query<HeartbeatRow>(this.#pool, STORE_HEARTBEAT, values);
    if (row === undefined) throw new Error('the database answered nothing');
    this.#clockAheadMs = clockAheadMs(before, row.now, Date.now());
    this.#pausedPools = new Set(row.paused);
    this.#stalledMs = row.stalled;
    this.#storedAt = performance.now();
  }
}

/**
 * Returns the minimum number of milliseconds by which this machine's clock is ahead of another clock; negative if it is
 * behind, 0 if both may agree. The other clock showed `other` when this one was between `before` and `after`.
 */
export function clockAheadMs(before: number, other: number, after: number): number {
  return Math.max(before - other, 0) + Math.min(after - other, 0);
}

/** Starts this process's heartbeat and its metrics, and registers both for disposal. */
export async function openHeartbeat(
  opening: AsyncDisposableStack,
  ...options: ConstructorParameters<typeof Heartbeat>
): Promise<Heartbeat> {
  const heartbeat = opening.adopt(new Heartbeat(...options), (one) => one.stop());
  await heartbeat.start();
  opening.adopt(watchClock(heartbeat), (watched) => watched.close());
  return heartbeat;
}

/** Description that a process stores of itself with each heartbeat. */
export interface ProcessDescription extends PublishedSettings {
  /** Seconds by which its clock was ahead of the database's at the previous heartbeat. */
  clock_ahead_s: number;
}

export interface LivingProcess {
  kind: string;
  settings: ProcessDescription;
  /** None for an ingress, and for a worker that only schedules. */
  pools: string[];
}

const LIVING_PROCESSES = {
  name: 'living_processes_v1',
  text: `select kind, settings, array(select jsonb_object_keys(pools)) as pools
           from processes where is_alive(alive_until) order by kind, id`,
};

export function livingProcesses(pool: Pool): Promise<LivingProcess[]> {
  return query<LivingProcess>(pool, LIVING_PROCESSES, []);
}
