import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { isUnavailable } from '../../shared/db/faults.ts';
import { countDue, duePage, hasLiveWork } from '../../shared/db/stores/memory/due.ts';
import { letGo, type Page, takePage, turnPage } from '../../shared/db/stores/schedules.ts';
import type { Log } from '../../shared/log.ts';
import type { RoundStep } from '../../shared/work/schedules.ts';

/** Accounts of one page. While jobs of as many wait in the pool, no page is taken. */
export const PAGE = 20;
/** Pages are spread over this part of the time to the next tick. */
const SPREAD = 0.8;
const PAUSE_MS = { least: 250, most: 60_000 };
/** How long a round waits before it looks again whether its pool has room. */
const WAIT_MS = 1000;
/** How many accounts are counted for the pace: more are as many. */
const COUNTED_MAX = 100_000;
const START = '00000000-0000-0000-0000-000000000000';

export interface RoundParts {
  pool: Pool;
  /** This process, by its heartbeat. */
  process: string;
  steps(name: string): readonly RoundStep[];
  /** Admits a step's job of an account for a tick; the same again is the same job. */
  admit(step: RoundStep, accountId: string, tick: number): Promise<void>;
  /** Notifies the workers of the step's pool. */
  ticket(step: RoundStep): Promise<void>;
  /** Whether the step's pool takes work, and has little waiting. */
  hasRoom(step: RoundStep): Promise<boolean>;
  /** How long a job of the step may take. */
  timeoutMs(step: RoundStep): number;
  log: Log;
}

/** Where a round stands after a page, and how long it pauses there. */
type Turn = Parameters<typeof turnPage>[3];

/**
 * Works on the rounds of recurring work: goes through the accounts with something new, a page at a time, and admits a job
 * of each. Where a round stands is in its row, so that another process goes on where this one dies; what it admits again
 * is the same job.
 */
export class Rounds {
  readonly #parts: RoundParts;
  readonly #closed = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  /** Of the latest tick: the pause between two pages, and since when a step waits for the one before. */
  readonly #pauses = new Map<string, { tick: number; step: number; pauseMs: number }>();
  readonly #waiting = new Map<string, number>();

  constructor(parts: RoundParts) {
    this.#parts = parts;
  }

  /** Works on the open round of a schedule, unless this process already does. */
  run(name: string): void {
    if (this.#running.has(name) || this.#closed.signal.aborted) return;
    const running = this.#run(name)
      .catch((error: unknown) => this.#parts.log.warn({ err: error, schedule: name }, 'round broken off'))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#running.values());
    const { pool, process, log } = this.#parts;
    await letGo(pool, process).catch((error: unknown) =>
      log.warn({ err: error }, 'could not let go of rounds'),
    );
  }

  async #run(name: string): Promise<void> {
    const { pool, process } = this.#parts;
    // What an earlier round waited for, and broke off.
    this.#waiting.delete(name);
    while (!this.#closed.signal.aborted) {
      const page = await takePage(pool, name, process);
      if (page === undefined) return;
      const turn = await this.#perform(name, page);
      if (!(await turnPage(pool, name, process, turn))) return;
      await sleep(turn.pauseMs, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
  }

  async #perform(name: string, page: Page): Promise<Turn> {
    const { pool, admit, ticket, log } = this.#parts;
    const steps = this.#parts.steps(name);
    const step = steps[page.step];
    if (step === undefined) return { step: 0, position: null, pauseMs: 0 };
    if (!(await this.#mayBegin(name, page, steps))) return { ...page, pauseMs: WAIT_MS };
    const { due, last } = await duePage(pool, step.due, page.position, PAGE);
    for (const account of due)
      await admit(step, account, page.tick).catch((error: unknown) => {
        if (isUnavailable(error)) throw error;
        // One account's fault, such as a lock on its rows, does not hold up the others.
        log.warn({ err: error, schedule: name }, 'an account is left to the next tick');
      });
    // Without a ticket the housekeeping notices a second later.
    if (due.length > 0)
      await ticket(step).catch((error: unknown) => log.warn({ err: error, schedule: name }, 'no ticket'));
    if (last !== undefined)
      return { step: page.step, position: last, pauseMs: await this.#pauseOf(name, page, step) };
    const isOver = page.step + 1 >= steps.length;
    return { step: isOver ? 0 : page.step + 1, position: isOver ? null : START, pauseMs: 0 };
  }

  /** Whether there is room for a page, and the jobs of the step before have ended. */
  async #mayBegin(name: string, page: Page, steps: readonly RoundStep[]): Promise<boolean> {
    const step = steps[page.step];
    const before = steps[page.step - 1];
    if (step === undefined || !(await this.#parts.hasRoom(step))) return false;
    if (before === undefined || page.position !== START) return true;
    const since = this.#waiting.get(name) ?? performance.now();
    const isOver = performance.now() - since > this.#parts.timeoutMs(before);
    if (!isOver && (await hasLiveWork(this.#parts.pool, before.kind.name))) {
      this.#waiting.set(name, since);
      return false;
    }
    this.#waiting.delete(name);
    return true;
  }

  /** Counts once for each step of a round. */
  async #pauseOf(
    name: string,
    { tick, step, position, untilTickMs }: Page,
    { due }: RoundStep,
  ): Promise<number> {
    const known = this.#pauses.get(name);
    if (known?.tick === tick && known.step === step) return known.pauseMs;
    const pages = (await countDue(this.#parts.pool, due, position, COUNTED_MAX)) / PAGE;
    const spread = (SPREAD * Math.max(0, untilTickMs)) / pages;
    const pauseMs = Math.min(Math.max(spread, PAUSE_MS.least), PAUSE_MS.most);
    this.#pauses.set(name, { tick, step, pauseMs });
    return pauseMs;
  }
}
