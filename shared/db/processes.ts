import type { Pool } from 'pg';
import { newId } from '../ids.ts';
import type { Log } from '../log.ts';
import { query } from './statement.ts';

const BEAT = {
  name: 'beat_v1',
  text: `insert into processes (id, kind, alive_until)
         values ($1::uuid, $2, now() + make_interval(secs => $3 / 1000.0))
         on conflict (id) do update set alive_until = excluded.alive_until`,
};

/** The row stays for a while: it also says how far the queue has come. */
const LEAVE = { name: 'leave_v1', text: 'update processes set alive_until = now() where id = $1::uuid' };

/**
 * This process's row among the living: the lease of all that it runs, and its word that its callers still wait.
 * It beats three times in a lease. When it stops, by leaving or by dying, others take over what it had.
 */
export class Presence {
  readonly id = newId();
  readonly #pool: Pool;
  readonly #kind: string;
  readonly #leaseMs: number;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(pool: Pool, options: { kind: string; leaseMs: number; log: Log }) {
    this.#pool = pool;
    this.#kind = options.kind;
    this.#leaseMs = options.leaseMs;
    this.#log = options.log;
  }

  /** Resolves when the row stands: only then may the process admit or claim anything. */
  async enter(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => {
      this.#beating ??= this.#beat()
        .catch((error: unknown) => this.#log.warn({ err: error }, 'heartbeat failed'))
        .finally(() => {
          this.#beating = undefined;
        });
    }, this.#leaseMs / 3);
  }

  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    await query(this.#pool, LEAVE, [this.id]).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'could not leave; the lease runs out by itself'),
    );
  }

  async #beat(): Promise<void> {
    await query(this.#pool, BEAT, [this.id, this.#kind, this.#leaseMs]);
  }
}
