import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { isUnavailable } from '../../shared/db/faults.ts';
import type { Database } from '../../shared/db/orm.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import { countDue, hasLiveWork, pageOfDueAccounts } from '../../shared/db/stores/memory/due.ts';
import { type RoundPage, releaseRounds, takePage, turnPage } from '../../shared/db/stores/schedules.ts';
import { LOWEST_ID } from '../../shared/ids.ts';
import type { Log } from '../../shared/log.ts';
import type { Queues } from '../../shared/queue/queues.ts';
import { admissionTerms, admitWork, jobAdmission } from '../../shared/work/admission.ts';
import { reasonNotToAdmit } from '../../shared/work/operate.ts';
import { PAGE_ACCOUNTS } from '../../shared/work/pool-load.ts';
import { type RoundStep, stepsOfRound } from '../../shared/work/schedules.ts';

/** The pages of a round are spread over this share of the time until the next tick. */
const SPREAD_SHARE = 0.8;
const PAGE_PAUSE_MS = { min: 250, max: 60_000 };
const ROOM_CHECK_MS = 1000;
/** Maximum number of due accounts that are counted to compute the pause between pages. */
const COUNTED_ACCOUNTS_MAX = 100_000;

export interface RoundDependencies {
  config: WorkerConfig;
  database: Database;
  queues: Queues;
  heartbeat: Heartbeat;
  log: Log;
}

type PageTurn = Parameters<typeof turnPage>[3];

/**
 * Runs recurring jobs. A round reads the accounts with new data page by page, and admits a job for each account. The
 * position of a round is stored, so that another process continues if this process dies.
 */
export class Rounds {
  readonly #dependencies: RoundDependencies;
  readonly #stopController = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  /** Pause between two pages, by schedule. Computed once for each tick and step. */
  readonly #pauses = new Map<string, { tick: number; step: number; pauseMs: number }>();
  /** Time at which a step of the round began to wait for the jobs of the previous step, by schedule. */
  readonly #waitingSince = new Map<string, number>();

  constructor(dependencies: RoundDependencies) {
    this.#dependencies = dependencies;
  }

  /** Continues the schedule's unfinished round, unless this process is doing so already. */
  run(name: string): void {
    if (this.#running.has(name) || this.#stopController.signal.aborted) return;
    const running = this.#run(name)
      .catch((error: unknown) =>
        this.#dependencies.log.warn({ err: error, schedule: name }, 'round broken off'),
      )
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
  }

  async close(): Promise<void> {
    this.#stopController.abort();
    await Promise.all(this.#running.values());
    const { database, heartbeat, log } = this.#dependencies;
    await releaseRounds(database.em(), heartbeat.id).catch((error: unknown) =>
      log.warn({ err: error }, 'could not release rounds'),
    );
  }

  async #run(name: string): Promise<void> {
    const { database, heartbeat } = this.#dependencies;
    // An earlier round that failed may have left an entry.
    this.#waitingSince.delete(name);
    while (!this.#stopController.signal.aborted) {
      const page = await takePage(database.em(), name, heartbeat.id);
      if (page === undefined) return;
      const turn = await this.#perform(name, page);
      if (!(await turnPage(database.em(), name, heartbeat.id, turn))) return;
      await sleep(turn.pauseMs, undefined, { signal: this.#stopController.signal }).catch(() => {});
    }
  }

  async #perform(name: string, page: RoundPage): Promise<PageTurn> {
    const { database, log } = this.#dependencies;
    const steps = stepsOfRound(name);
    const step = steps[page.step];
    if (step === undefined) return { step: 0, position: null, pauseMs: 0 };
    if (!(await this.#mayBegin(name, page, steps))) return { ...page, pauseMs: ROOM_CHECK_MS };
    const { pool } = database;
    const of = { due: step.due, kind: step.kind.name };
    const { due, last } = await pageOfDueAccounts(pool, of, page.position, PAGE_ACCOUNTS);
    for (const account of due)
      await this.#admit(step, account, page.tick).catch((error: unknown) => {
        if (isUnavailable(error)) throw error;
        // A fault with one account, such as a lock on its rows, must not delay the others.
        log.warn({ err: error, schedule: name }, 'an account is left to the next tick');
      });
    if (last !== undefined)
      return { step: page.step, position: last, pauseMs: await this.#pauseOf(name, page, step) };
    const isOver = page.step + 1 >= steps.length;
    return { step: isOver ? 0 : page.step + 1, position: isOver ? null : LOWEST_ID, pauseMs: 0 };
  }

  /** Safe to repeat, because the request id contains the tick. */
  async #admit({ kind, body }: RoundStep, accountId: string, tick: number): Promise<void> {
    const { config, database, queues, heartbeat } = this.#dependencies;
    const { recoveryWindowS, tokenQuotas } = config;
    const requestId = `scheduled ${new Date(tick).toISOString()}`;
    const job = jobAdmission(kind, { accountId, body, facts: {}, requestId });
    await heartbeat.awake();
    const options = { process: heartbeat.id, timeoutMs: config[kind.deadline], recoveryWindowS, tokenQuotas };
    await admitWork(database, kind, [job], admissionTerms(kind, options));
    queues.add(kind.pool, [{ kind: kind.name, work: [{ party: accountId, ids: [job.id] }] }]);
  }

  async #mayBegin(name: string, page: RoundPage, steps: readonly RoundStep[]): Promise<boolean> {
    const { config, database } = this.#dependencies;
    const step = steps[page.step];
    const previousStep = steps[page.step - 1];
    if (step === undefined || !(await this.#hasRoom(step))) return false;
    if (previousStep === undefined || page.position !== LOWEST_ID) return true;
    const since = this.#waitingSince.get(name) ?? performance.now();
    const isOver = performance.now() - since > config[previousStep.kind.deadline];
    if (!isOver && (await hasLiveWork(database.pool, previousStep.kind.name))) {
      this.#waitingSince.set(name, since);
      return false;
    }
    this.#waitingSince.delete(name);
    return true;
  }

  async #hasRoom({ kind: { pool } }: RoundStep): Promise<boolean> {
    const { database, heartbeat } = this.#dependencies;
    return !heartbeat.pausedPools.has(pool) && (await reasonNotToAdmit(database.pool, pool)) === undefined;
  }

  async #pauseOf(
    name: string,
    { tick, step, position, untilTickMs }: RoundPage,
    { due }: RoundStep,
  ): Promise<number> {
    const known = this.#pauses.get(name);
    if (known?.tick === tick && known.step === step) return known.pauseMs;
    const pages =
      (await countDue(this.#dependencies.database.pool, due, position, COUNTED_ACCOUNTS_MAX)) / PAGE_ACCOUNTS;
    const spread = (SPREAD_SHARE * Math.max(0, untilTickMs)) / pages;
    const pauseMs = Math.min(Math.max(spread, PAGE_PAUSE_MS.min), PAGE_PAUSE_MS.max);
    this.#pauses.set(name, { tick, step, pauseMs });
    return pauseMs;
  }
}
