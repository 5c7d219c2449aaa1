import type { Pool } from 'pg';
import { POOLS, type PoolName } from '../config/pools.ts';
import { type LeaseRounds, takeLease, yieldLease } from '../db/stores/lease.ts';
import { eraseAnswers, forget } from '../db/stores/work/forget.ts';
import { adoptStranded, type Casualty, survey, takeOver } from '../db/stores/work/repair.ts';
import { publish, readSnapshot } from '../db/stores/work/snapshot.ts';
import type { End } from '../domain/work.ts';
import { every, type Repeated } from '../every.ts';
import type { Log } from '../log.ts';
import type { Complete } from './completion.ts';
import { type Kind, type Kinds, kindNamed, kindsOf } from './kind.ts';

/** The lease of the leader, with its rounds. */
export const HOUSEKEEPING = 'housekeeping';
const LEASE_MS = 3000;
const LOOK_EVERY_MS = 200;
const IDLE_PUBLISH_MS = 900;
const REPAIR_EVERY_MS = 1000;
const ERASE_EVERY_MS = 5000;
const FORGET_EVERY_MS = 60_000;
/** How long one step goes on with erasing accounts. */
const ERASE_FOR_MS = 900;
/** Work that waits for longer may be stranded: on no queue. */
const STRANDED_MS = 1000;

export interface HousekeeperSteps {
  pool: Pool;
  kinds: Kinds;
  /** This process, and how long a process may be silent before it counts as dead. */
  process: string;
  leaseMs: number;
  recoveryWindowS: number;
  complete: Complete;
  /** Notifies a pool's workers that there is work. */
  ticket(pool: PoolName): Promise<void>;
  /** Goes on with the erasure of accounts, for about so long. */
  eraseAccounts(withinMs: number): Promise<unknown>;
  log: Log;
}

/**
 * The reaper: repairs what dead processes and lost messages leave behind, erases what has expired, and publishes the
 * snapshot of the queue that all ingresses read. Every process can do it; a lease lets one at a time, the leader. So it
 * costs the same however many processes there are, and goes on without any worker. Each step is safe to repeat.
 */
export class Housekeeper {
  readonly #steps: HousekeeperSteps;
  readonly #pools: readonly (readonly [PoolName, string[]])[];
  readonly #loops: Repeated[];
  /** By this process's clock, and no later than the lease itself ends. */
  #leadsUntil = Number.NEGATIVE_INFINITY;
  #busy = true;
  #publishedAt = Number.NEGATIVE_INFINITY;
  /** Those of this process, for operators. */
  readonly #rounds: LeaseRounds = {};
  /** Those under way, by party; while they last, a round starts no more of its endings. */
  readonly #endings = new Map<string, Promise<unknown>>();

  constructor(steps: HousekeeperSteps) {
    this.#steps = steps;
    this.#pools = POOLS.map((pool) => [pool, kindsOf(steps.kinds, pool)] as const).filter(
      ([, kinds]) => kinds.length > 0,
    );
    // Repair never waits for erasure, and neither waits for the snapshot.
    this.#loops = [
      every(REPAIR_EVERY_MS, () => this.#lead(), { onError: this.#onError('lead'), atOnce: true }),
      this.#every(LOOK_EVERY_MS, 'publish', () => this.#publish()),
      this.#every(REPAIR_EVERY_MS, 'repair', () => this.#repair()),
      this.#every(ERASE_EVERY_MS, 'erase', () => eraseAnswers(steps.pool, steps.recoveryWindowS)),
      this.#every(FORGET_EVERY_MS, 'forget', () => forget(steps.pool)),
      this.#every(REPAIR_EVERY_MS, 'erase accounts', () => steps.eraseAccounts(ERASE_FOR_MS)),
    ];
  }

  async close(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await Promise.all(this.#endings.values());
    if (!this.#leads) return;
    await yieldLease(this.#steps.pool, HOUSEKEEPING, this.#steps.process).catch((error: unknown) =>
      this.#steps.log.warn({ err: error }, 'could not yield the lead; its lease runs out by itself'),
    );
  }

  /** Repeats a step while this process leads. */
  #every(everyMs: number, name: string, step: () => Promise<unknown>): Repeated {
    const work = async () => {
      if (!this.#leads) return;
      await step();
      this.#rounds[name] = { everyMs, last: Date.now() };
    };
    return every(everyMs, work, { onError: this.#onError(name), atOnce: true });
  }

  #onError(step: string) {
    return (error: unknown) => this.#steps.log.warn({ err: error, step }, 'housekeeping failed');
  }

  get #leads(): boolean {
    return performance.now() < this.#leadsUntil;
  }

  async #lead(): Promise<void> {
    const led = this.#leads;
    const until = performance.now() + LEASE_MS;
    const lease = { holder: this.#steps.process, ms: LEASE_MS, rounds: this.#rounds };
    const leads = await takeLease(this.#steps.pool, HOUSEKEEPING, lease);
    this.#leadsUntil = leads ? until : Number.NEGATIVE_INFINITY;
    if (leads && !led) this.#steps.log.info('leads the housekeeping');
  }

  /** Once a second is enough while nothing waits or runs. */
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
      await this.#try('end or take over', () => this.#endOrTakeOver(name, kinds));
      await this.#try('ticket', () => this.#ticket(name, kinds));
    }
  }

  async #endOrTakeOver(name: PoolName, kinds: readonly string[]): Promise<void> {
    const { pool, process: judge, leaseMs } = this.#steps;
    const casualties = await survey(pool, kinds, { judge, leaseMs });
    const orphans = casualties.filter(({ verdict }) => verdict === 'orphaned').map(({ id }) => id);
    await this.#try('take over', () => this.#takeOver(name, orphans));
    for (const [party, ofParty] of Map.groupBy(casualties, (one) => one.party)) this.#end(party, ofParty);
  }

  async #takeOver(name: PoolName, orphans: readonly string[]): Promise<void> {
    if (orphans.length === 0) return;
    const count = await takeOver(this.#steps.pool, orphans);
    this.#steps.log.info({ count }, 'took over from a dead worker');
    // The latest snapshot is older, and would not show this work for another second.
    await this.#steps.ticket(name);
  }

  /** Returns at once: no other party's repair waits until the rows of this one are free. */
  #end(party: string, casualties: readonly Casualty[]): void {
    if (this.#endings.has(party)) return;
    const ended = casualties.map(async ({ verdict, ...subject }) => {
      if (verdict === 'orphaned') return;
      const end = endOf(verdict, kindNamed(this.#steps.kinds, subject.kind));
      await this.#try('end', () => this.#steps.complete({ ...subject, guard: verdict, ...end }));
    });
    this.#endings.set(
      party,
      Promise.all(ended).finally(() => this.#endings.delete(party)),
    );
  }

  /** Replaces a lost ticket: one is enough, however much waits. */
  async #ticket(name: PoolName, [kind = '']: readonly string[]): Promise<void> {
    const snapshot = await readSnapshot(this.#steps.pool, { name: kind, pool: name });
    if (snapshot !== undefined && snapshot.oldestMs > STRANDED_MS) await this.#steps.ticket(name);
  }

  async #try(name: string, step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#steps.log.warn({ err: error, step: name }, 'housekeeping failed');
    }
  }
}

function endOf(verdict: Exclude<Casualty['verdict'], 'orphaned'>, { codes }: Kind): End {
  switch (verdict) {
    case 'overdue':
      return { state: 'failed', code: codes.timeout };
    case 'abandoned':
      return { state: 'failed', code: 'abandoned' };
    case 'detached':
      return { state: 'cancelled', code: codes.cancelled };
  }
}
