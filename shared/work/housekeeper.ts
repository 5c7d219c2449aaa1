import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { finishEndings } from '../db/stores/end-account.ts';
import type { EndingTerms } from '../db/stores/erasure/work.ts';
import { type LeaseRounds, takeLease, yieldLease } from '../db/stores/lease.ts';
import { deleteOldHistory, eraseAnswers } from '../db/stores/work/forget.ts';
import {
  type Casualty,
  findAbandonedWork,
  findCasualties,
  findOverdueWork,
  hasDeathsWithin,
  takeOver,
} from '../db/stores/work/repair.ts';
import type { End } from '../domain/work.ts';
import type { Log } from '../log.ts';
import { watchTables } from '../metrics/tables.ts';
import { housekeepingFailures, repairs } from '../metrics/work.ts';
import { closePart } from '../process/lifecycle.ts';
import { ABANDON_AFTER_MS } from '../schemas/limits.ts';
import { every, type Repeated } from '../timing/every.ts';
import type { Complete } from './completion.ts';
import { type Kind, type Kinds, kindNamed } from './kind.ts';
import type { WakeUps } from './wake-ups.ts';

/** Name of the leader's lease, which also stores its rounds. */
export const HOUSEKEEPING = 'housekeeping';
const LEASE_MS = 3000;
const LEAD_EVERY_MS = 1500;
const SWEEP_EVERY_MS = 1000;
const END_EVERY_MS = 2000;
/**
 * How far back a repair looks. It looks at everything when its process has just become the leader, and then once per
 * `REPAIR_REACH_MS`.
 */
const REPAIR_REACH_MS = 60_000;
const ERASE_EVERY_MS = 5000;
const FORGET_EVERY_MS = 60_000;
const ERASE_ACCOUNTS_EVERY_MS = 4000;
/** Time for which one step continues to erase accounts. */
const ERASE_FOR_MS = 3700;
/** Time for which a dead process's work is searched for, beyond a lease and the callers' grace period. */
const SWEEP_FOR_MS = 10_000;
/** Maximum number of pieces of work that one log line names. */
const LOGGED_IDS_MAX = 20;
/** How long a new leader sweeps, in addition to a lease, for work of processes whose death no leader may have seen. */
const NEW_LEADER_SWEEP_MS = 2000;

export interface HousekeeperSteps {
  pool: Pool;
  kinds: Kinds;
  /** Id of this process; `leaseMs`: the silence after which a process counts as dead. */
  process: string;
  leaseMs: number;
  recoveryWindowS: number;
  complete: Complete;
  wakeUps: Pick<WakeUps, 'announceAdmitted'>;
  /** Continues the erasure of accounts for about `withinMs`. */
  eraseAccounts(withinMs: number): Promise<unknown>;
  log: Log;
}

export interface HousekeeperParts extends Omit<HousekeeperSteps, 'eraseAccounts'> {
  /** Address of PostgreSQL itself, not of a pooler. */
  directUrl: string;
  em: () => EntityManager;
  wakeUps: WakeUps;
}

/**
 * The reaper: ends or queues again the work that dead processes leave behind, and erases what has expired. Every
 * process has one, but a lease lets only one of them work at a time, the leader. So housekeeping costs the same however
 * many processes there are, and goes on without any worker. Each step is safe to repeat, and reads a bounded number of
 * rows.
 */
export class Housekeeper {
  readonly #steps: HousekeeperSteps;
  readonly #loops: Repeated[];
  /** End of this process's lead by its own clock, no later than the lease itself ends. */
  #leadsUntil = Number.NEGATIVE_INFINITY;
  #ledSince = Number.NEGATIVE_INFINITY;
  /** The latest round of each step in this process, for operators. */
  readonly #rounds: LeaseRounds = {};
  /** Endings of work under way, by party; while they last, no round starts more for that party. */
  readonly #endings = new Map<string, Promise<unknown>>();
  /** Time at which each repair last looked at everything since this process became the leader. */
  readonly #lookedAtAll = new Map<string, number>();

  constructor(steps: HousekeeperSteps) {
    this.#steps = steps;
    // Each step has a loop of its own, so that repair never waits for erasure.
    this.#loops = [
      every(LEAD_EVERY_MS, () => this.#lead(), { onError: this.#onError('lead'), atOnce: true }),
      this.#every(END_EVERY_MS, 'end overdue', () => this.#endOverdue()),
      this.#every(END_EVERY_MS, 'end abandoned', () => this.#endAbandoned()),
      this.#every(SWEEP_EVERY_MS, 'sweep', () => this.#sweepAfterDeaths()),
      this.#every(ERASE_EVERY_MS, 'erase', () => eraseAnswers(steps.pool, steps.recoveryWindowS)),
      this.#every(FORGET_EVERY_MS, 'forget', () => deleteOldHistory(steps.pool)),
      this.#every(ERASE_ACCOUNTS_EVERY_MS, 'erase accounts', () => steps.eraseAccounts(ERASE_FOR_MS)),
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

  /** Repeats a step whenever this process leads. */
  #every(everyMs: number, name: string, step: () => Promise<unknown>): Repeated {
    const work = async () => {
      if (!this.#leads) return;
      await step();
      this.#rounds[name] = { everyMs, last: Date.now() };
    };
    return every(everyMs, work, { onError: this.#onError(name), atOnce: true });
  }

  #onError(step: string) {
    return (error: unknown) => {
      housekeepingFailures.inc({ step });
      this.#steps.log.warn({ err: error, step }, 'housekeeping failed');
    };
  }

  /** The rounds of this process; undefined while it does not lead. */
  rounds(): LeaseRounds | undefined {
    return this.#leads ? this.#rounds : undefined;
  }

  get #leads(): boolean {
    return performance.now() < this.#leadsUntil;
  }

  async #lead(): Promise<void> {
    const wasLeader = this.#leads;
    const until = performance.now() + LEASE_MS;
    const lease = { holder: this.#steps.process, ms: LEASE_MS, rounds: this.#rounds, renews: wasLeader };
    const leads = await takeLease(this.#steps.pool, HOUSEKEEPING, lease);
    this.#leadsUntil = leads ? until : Number.NEGATIVE_INFINITY;
    if (!leads || wasLeader) return;
    this.#ledSince = performance.now();
    this.#lookedAtAll.clear();
    this.#steps.log.info('leads the housekeeping');
  }

  #endOverdue(): Promise<void> {
    const { pool, kinds } = this.#steps;
    return this.#within('overdue', async (reachMs) => {
      for await (const page of findOverdueWork(pool, Object.keys(kinds), reachMs)) this.#endAll(page);
    });
  }

  #endAbandoned(): Promise<void> {
    return this.#within('abandoned', async (reachMs) =>
      this.#endAll(await findAbandonedWork(this.#steps.pool, Object.keys(this.#steps.kinds), reachMs)),
    );
  }

  /** Runs a repair, and passes it how far back it must look this time; null: at everything. */
  async #within(name: string, look: (reachMs: number | null) => Promise<void>): Promise<void> {
    const at = performance.now();
    const isDue = at >= (this.#lookedAtAll.get(name) ?? Number.NEGATIVE_INFINITY) + REPAIR_REACH_MS;
    await look(isDue ? null : REPAIR_REACH_MS);
    if (isDue) this.#lookedAtAll.set(name, at);
  }

  /**
   * Searches all live work while a process may just have died with some of it. A new leader assumes that its
   * predecessor has just died.
   */
  async #sweepAfterDeaths(): Promise<void> {
    const { pool, kinds, process: judge, leaseMs } = this.#steps;
    const forMs = SWEEP_FOR_MS + leaseMs + ABANDON_AFTER_MS;
    // `findCasualties` finds nothing before this process may judge others: when its heartbeats have been unbroken for
    // a lease.
    const isNewLeader = performance.now() < this.#ledSince + leaseMs + NEW_LEADER_SWEEP_MS;
    if (!isNewLeader && !(await hasDeathsWithin(pool, forMs))) return;
    for (const kind of Object.keys(kinds))
      for await (const page of findCasualties(pool, kind, { judge, leaseMs })) {
        const orphans = page.filter(({ verdict }) => verdict === 'orphaned').map(({ id }) => id);
        await this.#takeOver(orphans).catch(this.#onError('take over'));
        this.#endAll(page);
      }
  }

  async #takeOver(orphans: readonly string[]): Promise<void> {
    if (orphans.length === 0) return;
    const flows = await takeOver(this.#steps.pool, orphans);
    repairs.inc({ verdict: 'orphaned' }, flows.length);
    const some = orphans.slice(0, LOGGED_IDS_MAX);
    this.#steps.log.warn({ count: flows.length, some }, 'took over from a dead worker');
    this.#steps.wakeUps.announceAdmitted(flows);
  }

  #endAll(casualties: readonly Casualty[]): void {
    for (const [party, ofParty] of Map.groupBy(casualties, (one) => one.party)) this.#end(party, ofParty);
  }

  /** Begins to end a party's casualties, and returns at once: other parties do not wait for this one's locked rows. */
  #end(party: string, casualties: readonly Casualty[]): void {
    if (this.#endings.has(party)) return;
    const ended = casualties.map(async ({ verdict, ...subject }) => {
      if (verdict === 'orphaned') return;
      repairs.inc({ verdict });
      const end = endOf(verdict, kindNamed(this.#steps.kinds, subject.kind));
      await this.#steps.complete({ ...subject, guard: verdict, ...end }).catch(this.#onError('end'));
    });
    this.#endings.set(
      party,
      Promise.all(ended).finally(() => this.#endings.delete(party)),
    );
  }
}

function endOf(verdict: Exclude<Casualty['verdict'], 'orphaned'>, { codes }: Kind): End {
  if (verdict === 'detached') return { state: 'cancelled', code: codes.cancelled };
  return { state: 'failed', code: verdict === 'overdue' ? codes.timeout : 'abandoned' };
}

/** Opens a process's reaper, and registers it for disposal. Returns the terms on which it ends the work of accounts. */
export function openHousekeeper(
  opening: AsyncDisposableStack,
  { em, directUrl, ...steps }: HousekeeperParts,
): EndingTerms {
  const terms = endingTerms(steps.kinds, steps.wakeUps, steps.recoveryWindowS);
  const eraseAccounts = (withinMs: number) => finishEndings(em(), terms, withinMs);
  const housekeeper = opening.adopt(new Housekeeper({ ...steps, eraseAccounts }), closePart);
  opening.adopt(watchTables({ ...steps, directUrl, rounds: () => housekeeper.rounds() }), closePart);
  return terms;
}

/** Returns the terms on which an account's work is ended: parts last, because callers wait for the whole. */
export function endingTerms(
  kinds: Kinds,
  wakeUps: Pick<WakeUps, 'announceEnded'>,
  recoveryWindowS: number,
): EndingTerms {
  const all = Object.values(kinds);
  const parts = new Set(all.flatMap((kind) => kind.parts?.name ?? []));
  const inOrder = all.toSorted((a, b) => Number(parts.has(a.name)) - Number(parts.has(b.name)));
  return {
    windowS: recoveryWindowS,
    cancelled: new Map(inOrder.map(({ name, codes }) => [name, codes.cancelled])),
    ended: (ids) => wakeUps.announceEnded(ids),
  };
}
