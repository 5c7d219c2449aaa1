import { hostname } from 'node:os';
import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../config/config.ts';
import type { PublishedSettings } from '../config/published-settings.ts';
import { instanceOf, type Log } from '../log.ts';
import { watchClock } from '../metrics/process.ts';
import { Coalescer } from '../timing/coalesce.ts';
import type { Repetition } from '../timing/every.ts';
import { Rest } from '../timing/rest.ts';
import { oneRow } from './rows.ts';
import { query } from './statement.ts';

/**
 * `since` is the time since which the process's heartbeats have had no gap of half a lease or more. Only a process
 * without such a gap for at least a lease may declare others dead: just after an outage, other processes may not have
 * had time for a heartbeat yet. If the clock was set back to before `since`, the time begins anew. So it does after a
 * rest, whose heartbeats are too rare to tell. A process that asks to rest ($7) does if no work is live.
 */
const STORE_HEARTBEAT = {
  name: 'beat_v1',
  text: `with asked as materialized (select $7::boolean and not exists (select from work) as rests)
         insert into processes (id, kind, alive_until, since, pools, settings)
         select $1::uuid, $2, clock_timestamp() + make_interval(secs => (case when rests then $8::int else $3 end) / 1000.0),
                clock_timestamp(), $4::jsonb, $5::jsonb || jsonb_build_object('resting', rests)
           from asked
         on conflict (id) do update
            set alive_until = excluded.alive_until, pools = excluded.pools, settings = excluded.settings,
                since = case when processes.settings @> '{"resting": true}' <= excluded.settings @> '{"resting": true}'
                              and processes.alive_until > excluded.since + make_interval(secs => $3 / 2000.0)
                             then least(processes.since, excluded.since) else excluded.since end
         returning array(select pool from paused_pools) as paused,
                   (select json_object_agg(p, stalled_ms_v1(p)) from unnest($6::text[]) p) as stalled,
                   $2 = 'worker' and exists (select from deliveries where next_attempt_at <= now()) as due,
                   (select rests from asked) as rests,
                   (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
};

const END_LEASE = {
  name: 'leave_v1',
  text: 'update processes set alive_until = now(), pools = null, settings = null where id = $1::uuid',
};

const HEARTBEATS_PER_LEASE = 7;
const HEARTBEAT_INTERVAL_MAX_MS = 700;
/**
 * At rest, a process holds no work and no callers: its lease says only that it would take work. The interval is shorter
 * than the time after which a silent process counts as stuck.
 */
const REST = { heartbeatEveryMs: 7500, leaseMs: 20_000 };
/** A process whose latest heartbeat was stored longer ago is not ready. */
const STORED_WITHIN_MS = 2000;

/**
 * Pools that a worker serves. `claimed` counts the work that the worker has claimed since it started; `stalledMs` is the
 * time for which it has had no free slot and claimed nothing.
 */
export type ServedPools = Record<string, { slots: number; claimed: number; stalledMs: number }>;

interface HeartbeatOptions {
  kind: string;
  leaseMs: number;
  settings: PublishedSettings;
  port: number;
  log: Log;
  rest?: Rest;
}

type HeartbeatRow = {
  paused: string[];
  stalled: Record<string, number | null>;
  due: boolean;
  rests: boolean;
  now: number;
};

/** Renews the lease on this process's work. When the process stops or dies, other processes take its work over. */
export class Heartbeat {
  /** The `instance` of the process's log lines. */
  readonly id: string;
  readonly rest: Rest;
  readonly #pool: Pool;
  readonly #kind: string;
  readonly #leaseMs: number;
  readonly #settings: PublishedSettings;
  readonly #port: number;
  readonly #log: Log;
  #servedPools: () => ServedPools = () => ({});
  #pausedPools: ReadonlySet<string> = new Set();
  #stalledMs: Readonly<Record<string, number | null>> = {};
  #areDeliveriesDue = false;
  #wasStoredAtRest = false;
  #isFailing = false;
  #storedAt = performance.now();
  #clockAheadMs = 0;
  #recoveredAt = Number.NEGATIVE_INFINITY;
  #repetition: Repetition | undefined;
  readonly #beats = new Coalescer(() => this.#beat());

  constructor(pool: Pool, options: HeartbeatOptions) {
    this.rest = options.rest ?? new Rest();
    this.id = instanceOf(options.log);
    this.#port = options.port;
    this.#pool = pool;
    this.#kind = options.kind;
    this.#leaseMs = options.leaseMs;
    this.#settings = options.settings;
    this.#log = options.log;
  }

  /** Resolves when the process's row is stored. The process must not admit or claim work before. */
  async start(): Promise<void> {
    await this.#beats.run();
    const intervalMs = Math.min(this.#leaseMs / HEARTBEATS_PER_LEASE, HEARTBEAT_INTERVAL_MAX_MS);
    this.#repetition = this.rest.every(
      intervalMs,
      REST.heartbeatEveryMs,
      async () => {
        await this.#beats.run();
        this.#noteOutcome(true);
      },
      {
        onError: (error) => {
          this.#log.warn({ err: error }, 'heartbeat failed');
          this.#noteOutcome(false);
          this.rest.hear();
        },
      },
    );
  }

  /**
   * Ends the rest, because there is work. Resolves once a heartbeat has been stored since: pools may have been paused, and
   * the lease on work is short.
   */
  async awake(): Promise<void> {
    this.rest.note();
    if (this.#wasStoredAtRest) await this.#beats.run();
  }

  /** Milliseconds since the last stored heartbeat. */
  get silentMs(): number {
    return performance.now() - this.#storedAt;
  }

  /** Rejects unless heartbeats are stored, because the database does not answer or takes no writes. */
  async assertStored(): Promise<void> {
    if (this.rest.awakeMs < STORED_WITHIN_MS) await this.#beats.run();
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

  /** Whether webhooks have deliveries to send, as of the latest heartbeat of a worker. Saves a look of its own. */
  get areDeliveriesDue(): boolean {
    return this.#areDeliveriesDue;
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
    await this.#beats.run();
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
      host: hostname(),
      pid: process.pid,
      port: this.#port,
      clock_ahead_s: Math.round(this.#clockAheadMs / 1000),
    };
    const json = [this.#servedPools(), description].map((value) => JSON.stringify(value));
    const { isQuiet } = this.rest;
    const restLeaseMs = Math.max(REST.leaseMs, this.#leaseMs);
    const values = [this.id, this.#kind, this.#leaseMs, ...json, POOLS, isQuiet, restLeaseMs];
    const before = Date.now();
    const row = await oneRow(query<HeartbeatRow>(this.#pool, STORE_HEARTBEAT, values));
    this.#clockAheadMs = clockAheadMs(before, row.now, Date.now());
    this.#pausedPools = new Set(row.paused);
    this.#stalledMs = row.stalled;
    this.#areDeliveriesDue = row.due;
    this.#wasStoredAtRest = row.rests;
    if (row.due || (isQuiet && !row.rests)) this.rest.hear();
    else if (row.rests && this.rest.isQuiet) this.rest.begin();
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
  host: string;
  pid: number;
  /** The port that it listens on, as configured: an ingress for callers, a worker for operators. */
  port: number;
  /** True if it rested at that heartbeat; absent before the first. */
  resting?: boolean;
  /** Seconds by which its clock was ahead of the database's at the previous heartbeat. */
  clock_ahead_s: number;
}
