import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { finishEndings } from '../db/stores/end-account.ts';
import type { EndingOptions } from '../db/stores/erasure/work.ts';
import { beginRound, endRound } from '../db/stores/rounds.ts';
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
import { every, type Repetition } from '../timing/every.ts';
import { withTimeout } from '../timing/within.ts';
import type { Completer } from './completion.ts';
import { endingOptions } from './ending-options.ts';
import type { AddJobs } from './jobs.ts';
import { type Kind, type Kinds, kindNamed } from './kind.ts';
import { watchTables } from './table-metrics.ts';
import type { WakeUps } from './wake-ups.ts';

const SWEEP_EVERY_MS = 1000;
const END_WORK_EVERY_MS = 2000;
/** A search for work to end usually looks only this far back, and once in this time through everything. */
const LOOKBACK_MS = 60_000;
const ERASE_ANSWERS_EVERY_MS = 5000;
const DELETE_HISTORY_EVERY_MS = 60_000;
const ERASE_ACCOUNTS_EVERY_MS = 4000;
const ERASE_ACCOUNTS_FOR_MS = 3700;
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

/**
 * Ends overdue and abandoned work, takes over the work of dead workers, and erases what has expired. Every ingress and
 * worker has a housekeeper; whichever begins a round of a step first runs it. Each step is safe to repeat.
 */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  readonly #loops: Repetition[];
  readonly #closing = new AbortController();
  /** Running completions of stranded work, by party. */
  readonly #completions = new Map<string, Promise<unknown>>();

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    const { pool, recoveryWindowS } = options;
    const stopping = this.#closing.signal;
    // Each step has a loop of its own, so that repair never waits for erasure.
    this.#loops = [
      this.#every(END_WORK_EVERY_MS, 'end work', () => this.#endWork(LOOKBACK_MS)),
      this.#every(LOOKBACK_MS, 'end all work', () => this.#endWork(null)),
      this.#every(SWEEP_EVERY_MS, 'sweep', () => this.#sweepAfterDeaths(), options.leaseMs),
      this.#every(ERASE_ANSWERS_EVERY_MS, 'erase', () => eraseAnswers(pool, recoveryWindowS, stopping)),
      this.#every(DELETE_HISTORY_EVERY_MS, 'forget', () => deleteOldHistory(pool, stopping)),
      this.#every(ERASE_ACCOUNTS_EVERY_MS, 'erase accounts', () =>
        options.eraseAccounts(ERASE_ACCOUNTS_FOR_MS, stopping),
      ),
    ];
  }

  /** Lets each running step end. Called when the process begins to drain, and again on disposal. */
  async close(): Promise<void> {
    this.#closing.abort('closing');
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await Promise.all(this.#completions.values());
  }

  #every(everyMs: number, step: string, run: () => Promise<unknown>, steadyMs = 0): Repetition {
    const { pool, process } = this.#options;
    const work = async () => {
      if (!(await beginRound(pool, { step, everyMs, process, steadyMs }))) return;
      let succeeded = false;
      try {
        await run();
        succeeded = true;
      } finally {
        await endRound(pool, { step, process }, succeeded);
      }
    };
    return every(everyMs, work, { onError: this.#onError(step), atOnce: true });
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
