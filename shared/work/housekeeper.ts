import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { finishEndings } from '../db/stores/end-account.ts';
import type { EndingOptions } from '../db/stores/erasure/work.ts';
import { type EndedRound, type RoundTerms, turnRounds } from '../db/stores/rounds.ts';
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
import { housekeepingFailures, repairs } from '../metrics/work.ts';
import { closePart } from '../process/lifecycle.ts';
import { ABANDON_AFTER_MS } from '../schemas/limits.ts';
import type { Repetition } from '../timing/every.ts';
import type { Rest } from '../timing/rest.ts';
import { withTimeout } from '../timing/within.ts';
import type { Completer } from './completion.ts';
import { endingOptions } from './ending-options.ts';
import type { AddJobs } from './jobs.ts';
import { type Kind, type Kinds, kindNamed } from './kind.ts';
import { watchTables } from './table-metrics.ts';
import type { WakeUps } from './wake-ups.ts';

/** Interval at which a process ends its rounds and begins those that are due, with one statement. */
const TURN_EVERY_MS = { busy: 1000, resting: 20_000 };
const SWEEP_EVERY_MS = 1000;
const END_WORK_EVERY_MS = 2000;
/** A search for work to end usually looks only this far back, and once in this time through everything. */
const LOOKBACK_MS = 60_000;
const ERASE_ANSWERS_EVERY_MS = 5000;
const DELETE_HISTORY_EVERY_MS = 60_000;
const ERASE_ACCOUNTS_EVERY_MS = 4000;
const ERASE_ACCOUNTS_FOR_MS = 3700;
/** Least intervals of the steps at rest, when there is no work to end. Answers are still to go seconds after their time. */
const AT_REST_MS = { erase: 20_000, forget: 600_000, others: 60_000 };
/** After a death, or a gap in its own heartbeats, a process searches for this time, a lease and the callers' grace. */
const SWEEP_AFTER_DEATH_MS = 10_000;
/** Maximum wait for the ends of one page before the next is read: longer than a statement waits for a lock. */
const PAGE_ENDS_MS = 1000;
const LOGGED_IDS_MAX = 20;

export interface HousekeeperOptions {
  pool: Pool;
  kinds: Kinds;
  /** Id of this process. */
  process: string;
  /** Time without a heartbeat after which a process counts as dead. */
  leaseMs: number;
  recoveryWindowS: number;
  rest: Rest;
  complete: Completer;
  addJobs: AddJobs;
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

interface Step extends RoundTerms {
  /** Least interval at rest, if not `AT_REST_MS.others`. */
  atRestMs?: number;
  run(): Promise<unknown>;
}

/**
 * Ends overdue and abandoned work, takes over the work of dead workers, and erases what has expired. Every ingress and
 * worker has a housekeeper; whichever begins a round of a step first runs it. Each step is safe to repeat.
 */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  readonly #steps: readonly Step[];
  /** Running rounds of this process, by step. */
  readonly #rounds = new Map<string, Promise<void>>();
  /** Rounds that have ended since the latest turn. */
  #ended: EndedRound[] = [];
  readonly #turns: Repetition;
  readonly #closing = new AbortController();
  /** Running completions of stranded work, by party. */
  readonly #completions = new Map<string, Promise<unknown>>();

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    this.#steps = this.#stepsOf(options);
    const { busy, resting } = TURN_EVERY_MS;
    const turns = { onError: this.#onError('turn'), atOnce: true };
    this.#turns = options.rest.every(busy, resting, () => this.#turn(), turns);
  }

  /** Lets each running step end. Called when the process begins to drain, and again on disposal. */
  async close(): Promise<void> {
    this.#closing.abort('closing');
    await this.#turns.stop();
    await Promise.all(this.#rounds.values());
    if (this.#ended.length > 0) await this.#turn().catch(this.#onError('turn'));
    await Promise.all(this.#completions.values());
  }

  #stepsOf({ pool, recoveryWindowS, leaseMs, eraseAccounts }: HousekeeperOptions): Step[] {
    const stopping = this.#closing.signal;
    const sweep = () => this.#sweepAfterDeaths();
    const erase = () => eraseAnswers(pool, recoveryWindowS, stopping);
    const forget = () => deleteOldHistory(pool, stopping);
    const eraseParties = () => eraseAccounts(ERASE_ACCOUNTS_FOR_MS, stopping);
    return [
      { step: 'end work', everyMs: END_WORK_EVERY_MS, run: () => this.#endWork(LOOKBACK_MS) },
      { step: 'end all work', everyMs: LOOKBACK_MS, run: () => this.#endWork(null) },
      { step: 'sweep', everyMs: SWEEP_EVERY_MS, steadyMs: leaseMs, run: sweep },
      { step: 'erase', everyMs: ERASE_ANSWERS_EVERY_MS, atRestMs: AT_REST_MS.erase, run: erase },
      { step: 'forget', everyMs: DELETE_HISTORY_EVERY_MS, atRestMs: AT_REST_MS.forget, run: forget },
      { step: 'erase accounts', everyMs: ERASE_ACCOUNTS_EVERY_MS, run: eraseParties },
    ];
  }

  /** Does not wait for the rounds that it begins, so that repair never waits for erasure. */
  async #turn(): Promise<void> {
    const { pool, process, rest } = this.#options;
    const ended = this.#ended.splice(0);
    const isClosing = this.#closing.signal.aborted;
    const free = isClosing ? [] : this.#steps.filter(({ step }) => !this.#rounds.has(step));
    const steps = free.map(({ atRestMs = AT_REST_MS.others, everyMs, ...step }) => ({
      ...step,
      everyMs: rest.isResting ? Math.max(atRestMs, everyMs) : everyMs,
    }));
    // If it fails, the rounds that have ended stay this process's own, which begins them again.
    const begun = await turnRounds(pool, process, { ended, steps });
    for (const { step, run } of steps) if (begun.includes(step)) this.#begin(step, run);
  }

  #begin(step: string, run: Step['run']): void {
    const round = run().then(
      () => ({ step, succeeded: true }),
      (error: unknown) => {
        this.#onError(step)(error);
        return { step, succeeded: false };
      },
    );
    this.#rounds.set(
      step,
      round.then((end) => {
        this.#rounds.delete(step);
        this.#ended.push(end);
      }),
    );
  }

  #onError(step: string) {
    return (error: unknown) => {
      housekeepingFailures.inc({ step });
      this.#options.log.warn({ err: error, step }, 'housekeeping failed');
    };
  }

  /** Ends work that is overdue or abandoned for `lookbackMs` at most; null means for whatever time. */
  async #endWork(lookbackMs: number | null): Promise<void> {
    const { pool, kinds } = this.#options;
    const names = Object.keys(kinds);
    for await (const page of findOverdueWork(pool, names, lookbackMs)) {
      // A page of a party that still ends another one would have to be read again.
      await withTimeout(PAGE_ENDS_MS, () => this.#endAll(page)).catch(() => {});
      if (this.#closing.signal.aborted) return;
    }
    void this.#endAll(await findAbandonedWork(pool, names, lookbackMs));
  }

  /** Searches all live work for the work of dead processes, if a process may have died lately. */
  async #sweepAfterDeaths(): Promise<void> {
    const { pool, kinds, process: judge, leaseMs } = this.#options;
    const forMs = SWEEP_AFTER_DEATH_MS + leaseMs + ABANDON_AFTER_MS;
    if (!(await mayHaveDiedWithin(pool, forMs, judge))) return;
    for (const kind of Object.keys(kinds))
      for await (const page of findWorkOfDeadProcesses(pool, kind, { judge, leaseMs })) {
        const orphans = page.filter(({ verdict }) => verdict === 'orphaned').map(({ id }) => id);
        await this.#takeOver(orphans).catch(this.#onError('take over'));
        void this.#endAll(page);
      }
  }

  async #takeOver(orphans: readonly string[]): Promise<void> {
    if (orphans.length === 0) return;
    const work = await takeOver(this.#options.pool, orphans);
    repairs.inc({ verdict: 'orphaned' }, work.length);
    const loggedIds = orphans.slice(0, LOGGED_IDS_MAX);
    this.#options.log.warn({ count: work.length, some: loggedIds }, 'took over from a dead worker');
    this.#options.addJobs(work);
  }

  /** Never rejects. Leaves out parties of which other work is still ending, since their rows may be locked. */
  #endAll(stranded: readonly StrandedWork[]): Promise<unknown> {
    const byParty = [...Map.groupBy(stranded, (one) => one.party)];
    return Promise.all(byParty.map(([party, ofParty]) => this.#end(party, ofParty)));
  }

  #end(party: string, stranded: readonly StrandedWork[]): Promise<unknown> | undefined {
    if (this.#completions.has(party)) return undefined;
    const completions = stranded.map(async ({ verdict, ...subject }) => {
      if (verdict === 'orphaned') return;
      repairs.inc({ verdict });
      const end = endOf(verdict, kindNamed(this.#options.kinds, subject.kind));
      await this.#options.complete({ ...subject, guard: verdict, ...end }).catch(this.#onError('end'));
    });
    const ending = Promise.all(completions).finally(() => this.#completions.delete(party));
    this.#completions.set(party, ending);
    return ending;
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
  opening.adopt(watchTables({ ...options, directUrl }), closePart);
  return { housekeeper, ending };
}
