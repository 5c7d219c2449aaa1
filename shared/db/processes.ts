import type { Pool } from 'pg';
import { newId } from '../ids.ts';
import type { Log } from '../log.ts';
import { query } from './statement.ts';

const BEAT = {
  name: 'beat_v2',
  text: `insert into processes (id, kind, alive_until, since, pools)
         values ($1::uuid, $2, clock_timestamp() + make_interval(secs => $3 / 1000.0), clock_timestamp(), $4::jsonb)
         on conflict (id) do update
            set alive_until = excluded.alive_until, pools = excluded.pools,
                since = case when processes.alive_until > excluded.since then processes.since else excluded.since end`,
};

const LEAVE = {
  name: 'leave_v2',
  text: 'update processes set alive_until = now(), pools = null where id = $1::uuid',
};

const BEATS_PER_LEASE = 10;
const SLOWEST_BEAT_MS = 500;

/** What a worker serves: pool → its slots, and the work that it has claimed since it started. */
export type Served = Record<string, { slots: number; claimed: number }>;

/**
 * This process's heartbeat: the lease of all that it runs, and its word that its callers still wait. When it stops, by
 * leaving or by dying, others take over what it had.
 */
export class Heartbeat {
  readonly id = newId();
  readonly #pool: Pool;
  readonly #kind: string;
  readonly #leaseMs: number;
  readonly #log: Log;
  #served: () => Served = () => ({});
  #broken = false;
  #recoveredAt = Number.NEGATIVE_INFINITY;
  #onRecovered: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(pool: Pool, options: { kind: string; leaseMs: number; log: Log }) {
    this.#pool = pool;
    this.#kind = options.kind;
    this.#leaseMs = options.leaseMs;
    this.#log = options.log;
  }

  /** Resolves when the row stands: only then may the process admit or claim anything. */
  async start(): Promise<void> {
    await this.#beat();
    const every = Math.min(this.#leaseMs / BEATS_PER_LEASE, SLOWEST_BEAT_MS);
    this.#timer = setInterval(() => {
      this.#beating ??= this.#beat()
        .then(
          () => this.#note(true),
          (error: unknown) => {
            this.#log.warn({ err: error }, 'heartbeat failed');
            this.#note(false);
          },
        )
        .finally(() => {
          this.#beating = undefined;
        });
    }, every);
  }

  /** Milliseconds since the database was reachable again after a heartbeat had failed; Infinity when none ever has. */
  get recoveredMs(): number {
    return this.#broken ? 0 : performance.now() - this.#recoveredAt;
  }

  /** Calls back whenever the database is reachable again. */
  onRecovered(recovered: () => void): void {
    this.#onRecovered = recovered;
  }

  #note(ok: boolean): void {
    if (ok && this.#broken) {
      this.#recoveredAt = performance.now();
      this.#onRecovered();
    }
    this.#broken = !ok;
  }

  /** From now on it says what this process serves. */
  async serve(served: () => Served): Promise<void> {
    this.#served = served;
    await this.#beat();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    await query(this.#pool, LEAVE, [this.id]).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'could not end the lease; it runs out by itself'),
    );
  }

  async #beat(): Promise<void> {
    await query(this.#pool, BEAT, [this.id, this.#kind, this.#leaseMs, JSON.stringify(this.#served())]);
  }
}
