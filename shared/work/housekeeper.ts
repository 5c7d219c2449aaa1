import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { finishEndings } from '../db/stores/end-account.ts';
import type { EndingOptions } from '../db/stores/erasure/work.ts';
import { type LeaseRounds, takeLease, yieldLease } from '../db/stores/lease.ts';
import { deleteOldHistory, eraseAnswers } from '../db/stores/work/forget.ts';
import {
  findAbandonedWork,
  findOverdueWork,
  findWorkOfDeadProcesses,
  mayHaveDiedWithin,
  type StrandedWork,
  takeOver,
} from '../db/stores/work/repair.ts';
import type { End } from '../domain/work.ts';
import type { Log } from '../log.ts';
import { watchTables } from '../metrics/tables.ts';
import { housekeepingFailures, repairs } from '../metrics/work.ts';
import { closePart } from '../process/lifecycle.ts';
import { ABANDON_AFTER_MS } from '../schemas/limits.ts';
import { every, type Repetition } from '../timing/every.ts';
import type { Completer } from './completion.ts';
import { endingOptions } from './ending-options.ts';
import { type Kind, type Kinds, kindNamed } from './kind.ts';
import type { WakeUps } from './wake-ups.ts';

/** Name of the leader's lease. The lease also stores when each step last ran. */
export const HOUSEKEEPING = 'housekeeping';
const LEASE_MS = 3000;
const TAKE_LEASE_EVERY_MS = 1500;
const SWEEP_EVERY_MS = 1000;
const END_WORK_EVERY_MS = 2000;
/**
 * Most rounds of a repair search only this far back. A new leader's first round, and then one round per
 * `REPAIR_LOOKBACK_MS`, searches all time.
 */
const REPAIR_LOOKBACK_MS = 60_000;
const ERASE_ANSWERS_EVERY_MS = 5000;
const DELETE_HISTORY_EVERY_MS = 60_000;
const ERASE_ACCOUNTS_EVERY_MS = 4000;
const ERASE_ACCOUNTS_FOR_MS = 3700;
/** After a death or a gap in its own heartbeats, a leader searches for this time, a lease and the callers' grace. */
const SWEEP_AFTER_DEATH_MS = 10_000;
const LOGGED_IDS_MAX = 20;
/** A new leader searches for this time, plus a lease, for the work of processes that died while there was no leader. */
const NEW_LEADER_SWEEP_MS = 2000;

export interface HousekeeperOptions {
  pool: Pool;
  kinds: Kinds;
  /** Id of this process. */
  process: string;
  /** Time without a heartbeat after which a process counts as dead. */
  leaseMs: number;
  recoveryWindowS: number;
  complete: Completer;
  wakeUps: Pick<WakeUps, 'announceAdmitted'>;
  /** Runs for about `withinMs`. Ends after the current step once `stopping` has aborted. */
  eraseAccounts(withinMs: number, stopping: AbortSignal): Promise<unknown>;
  log: Log;
}

export interface OpenHousekeeperOptions extends Omit<HousekeeperOptions, 'eraseAccounts'> {
  /** Address of PostgreSQL itself, not of a pooler. */
  directUrl: string;
  em: () => EntityManager;
  wakeUps: WakeUps;
}

/**
 * Ends overdue and abandoned work, takes over the work of dead workers, and erases what has expired. Every ingress and
 * worker has a housekeeper, but only the leader's does anything. The leader is the process that holds the lease. Each
 * step is safe to repeat.
 */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  readonly #loops: Repetition[];
  readonly #closing = new AbortController();
  /** End of this process's lease, by its own clock; never later than the end in the database. */
  #leadsUntil = Number.NEGATIVE_INFINITY;
  #ledSince = Number.NEGATIVE_INFINITY;
  readonly #steps: string[] = [];
  readonly #rounds: LeaseRounds = {};
  /** Running completions of stranded work, by party. */
  readonly #completions = new Map<string, Promise<unknown>>();
  readonly #searchedAllAt = new Map<string, number>();

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    const { pool, recoveryWindowS } = options;
    const stopping = this.#closing.signal;
    // Each step has a loop of its own, so that repair never waits for erasure.
    this.#loops = [
      every(TAKE_LEASE_EVERY_MS, () => this.#lead(), { onError: this.#onError('lead'), atOnce: true }),
      this.#every(END_WORK_EVERY_MS, 'end overdue', () => this.#endOverdue()),
      this.#every(END_WORK_EVERY_MS, 'end abandoned', () => this.#endAbandoned()),
      this.#every(SWEEP_EVERY_MS, 'sweep', () => this.#sweepAfterDeaths()),
      this.#every(ERASE_ANSWERS_EVERY_MS, 'erase', () => eraseAnswers(pool, recoveryWindowS, stopping)),
      this.#every(DELETE_HISTORY_EVERY_MS, 'forget', () => deleteOldHistory(pool, stopping)),
      this.#every(ERASE_ACCOUNTS_EVERY_MS, 'erase accounts', () =>
        options.eraseAccounts(ERASE_ACCOUNTS_FOR_MS, stopping),
      ),
    ];
  }

  /**
   * Lets each running step end, then gives up the lease. Called when the process begins to drain, and again on
   * disposal.
   */
  async close(): Promise<void> {
    this.#closing.abort('closing');
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await Promise.all(this.#completions.values());
    if (!this.#leads) return;
    this.#leadsUntil = Number.NEGATIVE_INFINITY;
    await yieldLease(this.#options.pool, HOUSEKEEPING, this.#options.process).catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'could not yield the lead; its lease runs out by itself'),
    );
  }

  #every(everyMs: number, name: string, step: () => Promise<unknown>): Repetition {
    this.#steps.push(name);
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
      this.#options.log.warn({ err: error, step }, 'housekeeping failed');
    };
  }

  /**
   * Returns the milliseconds since each step last ended, or since this process began to lead if no round has ended
   * since; undefined if another process leads.
   */
  roundAges(): Readonly<Record<string, number>> | undefined {
    if (!this.#leads) return undefined;
    const leadsForMs = performance.now() - this.#ledSince;
    const now = Date.now();
    return Object.fromEntries(
      this.#steps.map((name) => [name, Math.min(now - (this.#rounds[name]?.last ?? 0), leadsForMs)]),
    );
  }

  get #leads(): boolean {
    return performance.now() < this.#leadsUntil;
  }

  async #lead(): Promise<void> {
    const wasLeader = this.#leads;
    const until = performance.now() + LEASE_MS;
    const lease = { holder: this.#options.process, ms: LEASE_MS, rounds: this.#rounds, renews: wasLeader };
    const leads = await takeLease(this.#options.pool, HOUSEKEEPING, lease);
    this.#leadsUntil = leads ? until : Number.NEGATIVE_INFINITY;
    if (!leads || wasLeader) return;
    this.#ledSince = performance.now();
    this.#searchedAllAt.clear();
    this.#options.log.info('leads the housekeeping');
  }

  #endOverdue(): Promise<void> {
    const { pool, kinds } = this.#options;
    return this.#runRepair('overdue', async (lookbackMs) => {
      for await (const page of findOverdueWork(pool, Object.keys(kinds), lookbackMs)) this.#endAll(page);
    });
  }

  #endAbandoned(): Promise<void> {
    return this.#runRepair('abandoned', async (lookbackMs) =>
      this.#endAll(await findAbandonedWork(this.#options.pool, Object.keys(this.#options.kinds), lookbackMs)),
    );
  }

  /** Calls `repair` with the time to look back; null means all time. */
  async #runRepair(name: string, repair: (lookbackMs: number | null) => Promise<void>): Promise<void> {
    const at = performance.now();
    const isDue = at >= (this.#searchedAllAt.get(name) ?? Number.NEGATIVE_INFINITY) + REPAIR_LOOKBACK_MS;
    await repair(isDue ? null : REPAIR_LOOKBACK_MS);
    if (isDue) this.#searchedAllAt.set(name, at);
  }

  /** Searches all live work for the work of dead processes, if a process may have died lately. */
  async #sweepAfterDeaths(): Promise<void> {
    const { pool, kinds, process: judge, leaseMs } = this.#options;
    const forMs = SWEEP_AFTER_DEATH_MS + leaseMs + ABANDON_AFTER_MS;
    // `findWorkOfDeadProcesses` finds nothing until this process has sent heartbeats without a gap for `leaseMs`.
    const isNewLeader = performance.now() < this.#ledSince + leaseMs + NEW_LEADER_SWEEP_MS;
    if (!isNewLeader && !(await mayHaveDiedWithin(pool, forMs, judge))) return;
    for (const kind of Object.keys(kinds))
      for await (const page of findWorkOfDeadProcesses(pool, kind, { judge, leaseMs })) {
        const orphans = page.filter(({ verdict }) => verdict === 'orphaned').map(({ id }) => id);
        await this.#takeOver(orphans).catch(this.#onError('take over'));
        this.#endAll(page);
      }
  }

  async #takeOver(orphans: readonly string[]): Promise<void> {
    if (orphans.length === 0) return;
    const flows = await takeOver(this.#options.pool, orphans);
    repairs.inc({ verdict: 'orphaned' }, flows.length);
    const loggedIds = orphans.slice(0, LOGGED_IDS_MAX);
    this.#options.log.warn({ count: flows.length, some: loggedIds }, 'took over from a dead worker');
    this.#options.wakeUps.announceAdmitted(flows);
  }

  #endAll(stranded: readonly StrandedWork[]): void {
    for (const [party, ofParty] of Map.groupBy(stranded, (one) => one.party)) this.#end(party, ofParty);
  }

  /** Does not wait for the completions, so that locked rows of this party do not delay other parties. */
  #end(party: string, stranded: readonly StrandedWork[]): void {
    if (this.#completions.has(party)) return;
    const completions = stranded.map(async ({ verdict, ...subject }) => {
      if (verdict === 'orphaned') return;
      repairs.inc({ verdict });
      const end = endOf(verdict, kindNamed(this.#options.kinds, subject.kind));
      await this.#options.complete({ ...subject, guard: verdict, ...end }).catch(this.#onError('end'));
    });
    this.#completions.set(
      party,
      Promise.all(completions).finally(() => this.#completions.delete(party)),
    );
  }
}

function endOf(verdict: Exclude<StrandedWork['verdict'], 'orphaned'>, { codes }: Kind): End {
  if (verdict === 'detached') return { state: 'cancelled', code: codes.cancelled };
  return { state: 'failed', code: verdict === 'overdue' ? codes.timeout : 'abandoned' };
}

/** `ending` holds the options for ending an account's work. */
export function openHousekeeper(
  opening: AsyncDisposableStack,
  { em, directUrl, ...options }: OpenHousekeeperOptions,
): { housekeeper: Housekeeper; ending: EndingOptions } {
  const ending = endingOptions(options.kinds, options.wakeUps, options.recoveryWindowS);
  const eraseAccounts = (withinMs: number, stopping: AbortSignal) =>
    finishEndings(em(), ending, withinMs, stopping);
  const housekeeper = opening.adopt(new Housekeeper({ ...options, eraseAccounts }), closePart);
  opening.adopt(watchTables({ ...options, directUrl, roundAges: () => housekeeper.roundAges() }), closePart);
  return { housekeeper, ending };
}
