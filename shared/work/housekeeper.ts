import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../config/pools.ts';
import { takeLease, yieldLease } from '../db/stores/lease.ts';
import { eraseAnswers, forget } from '../db/stores/work/forget.ts';
import { adoptStranded, type Casualty, survey, takeOver } from '../db/stores/work/repair.ts';
import { publish, readSnapshot } from '../db/stores/work/snapshot.ts';
import type { End } from '../domain/work.ts';
import type { Log } from '../log.ts';
import type { Complete } from './completion.ts';
import { type Kinds, kindsOf } from './kind.ts';

const LEASE = 'housekeeping';
const LEASE_MS = 3000;
const LOOK_EVERY_MS = 200;
const IDLE_PUBLISH_MS = 900;
const REPAIR_EVERY_MS = 1000;
const ERASE_EVERY_MS = 5000;
const FORGET_EVERY_MS = 60_000;
/** Work that waits for longer may be on no queue. */
const STRANDED_MS = 1000;

export interface HousekeeperSteps {
  pool: Pool;
  kinds: Kinds;
  /** This process, and how long one may be silent before it counts as dead. */
  process: string;
  leaseMs: number;
  recoveryWindowS: number;
  complete: Complete;
  /** Tells a pool's workers that there is work. */
  ticket(pool: PoolName): Promise<void>;
  /** Goes on with the erasure of accounts, for about a second. */
  eraseAccounts(): Promise<unknown>;
  log: Log;
}

/**
 * Makes right what a process that died or a message that was lost left behind, erases what has expired, and publishes
 * the snapshot of the queue that all ingresses read. Every process can do it, and one at a time does, by a lease: so it
 * costs the same however many there are, and goes on when no worker is left. Each step is safe to repeat.
 */
export class Housekeeper {
  readonly #steps: HousekeeperSteps;
  readonly #pools: readonly (readonly [PoolName, string[]])[];
  readonly #loops: Promise<void>[];
  readonly #stopped = new AbortController();
  #leads = false;
  #busy = true;
  #publishedAt = Number.NEGATIVE_INFINITY;

  constructor(steps: HousekeeperSteps) {
    this.#steps = steps;
    this.#pools = POOLS.map((pool) => [pool, kindsOf(steps.kinds, pool)] as const).filter(
      ([, kinds]) => kinds.length > 0,
    );
    // Repair never waits for erasure, and neither waits for the snapshot.
    this.#loops = [
      this.#every(REPAIR_EVERY_MS, 'lead', () => this.#lead()),
      this.#every(LOOK_EVERY_MS, 'publish', () => this.#publish()),
      this.#every(REPAIR_EVERY_MS, 'repair', () => this.#repair()),
      this.#every(ERASE_EVERY_MS, 'erase', () => eraseAnswers(steps.pool, steps.recoveryWindowS)),
      this.#every(FORGET_EVERY_MS, 'forget', () => forget(steps.pool)),
      this.#every(REPAIR_EVERY_MS, 'erase accounts', () => steps.eraseAccounts()),
    ];
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#loops);
    if (!this.#leads) return;
    await yieldLease(this.#steps.pool, LEASE, this.#steps.process).catch((error: unknown) =>
      this.#steps.log.warn({ err: error }, 'could not give the lead up; its lease runs out by itself'),
    );
  }

  /** Does the step again and again, while this process leads; one failure does not stop it. */
  async #every(ms: number, name: string, step: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const since = performance.now();
      if (this.#leads || name === 'lead')
        await step().catch((error: unknown) =>
          this.#steps.log.warn({ err: error, step: name }, 'housekeeping'),
        );
      const waited = Promise.withResolvers<void>();
      const timer = setTimeout(waited.resolve, Math.max(10, ms - (performance.now() - since)));
      signal.addEventListener('abort', () => waited.resolve(), { once: true });
      await waited.promise;
      clearTimeout(timer);
    }
  }

  async #lead(): Promise<void> {
    const led = this.#leads;
    this.#leads = false;
    this.#leads = await takeLease(this.#steps.pool, LEASE, this.#steps.process, LEASE_MS);
    if (this.#leads && !led) this.#steps.log.info('leads the housekeeping');
  }

  /** While nothing waits or runs once a second is enough. */
  async #publish(): Promise<void> {
    if (!this.#busy && performance.now() - this.#publishedAt < IDLE_PUBLISH_MS) return;
    this.#publishedAt = performance.now();
    const busy = [];
    for (const [, kinds] of this.#pools) busy.push(await publish(this.#steps.pool, kinds));
    this.#busy = busy.includes(true);
  }

  async #repair(): Promise<void> {
    for (const [name, kinds] of this.#pools) {
      await this.#try('adopt', () => adoptStranded(this.#steps.pool, this.#steps.process, kinds));
      await this.#try('end or take over', () => this.#attendTo(name, kinds));
      await this.#try('ticket', () => this.#ticket(name, kinds));
    }
  }

  async #attendTo(name: PoolName, kinds: readonly string[]): Promise<void> {
    const { pool, process: judge, leaseMs } = this.#steps;
    const casualties = await survey(pool, kinds, { judge, leaseMs });
    await Promise.all(
      casualties.map(async ({ verdict, ...subject }) => {
        if (verdict === 'orphaned') return;
        await this.#try('end', () =>
          this.#steps.complete({ ...subject, guard: verdict, ...END_OF[verdict] }),
        );
      }),
    );
    const orphans = casualties.filter(({ verdict }) => verdict === 'orphaned').map(({ id }) => id);
    if (orphans.length > 0) {
      const count = await takeOver(pool, orphans);
      this.#steps.log.info({ count }, 'took over from a dead worker');
      // The latest snapshot is from before: it would not tell for another second that this waits.
      await this.#steps.ticket(name);
    }
  }

  /** A lost ticket is replaced: whatever waits, one ticket is enough. */
  async #ticket(name: PoolName, [kind = '']: readonly string[]): Promise<void> {
    const snapshot = await readSnapshot(this.#steps.pool, { name: kind, pool: name });
    if (snapshot !== undefined && snapshot.oldestMs > STRANDED_MS) await this.#steps.ticket(name);
  }

  async #try(name: string, step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#steps.log.warn({ err: error, step: name }, 'housekeeping');
    }
  }
}

const END_OF: Record<Exclude<Casualty['verdict'], 'orphaned'>, End> = {
  overdue: { state: 'failed', code: 'prediction_timeout' },
  abandoned: { state: 'failed', code: 'abandoned' },
  detached: { state: 'cancelled', code: 'prediction_cancelled' },
};
