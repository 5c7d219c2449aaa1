import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { nextTick } from '../../shared/config/cron.ts';
import type { Recurrence } from '../../shared/config/recurrence.ts';
import {
  databaseNow,
  fire,
  plantSchedule,
  readSchedules,
  type ScheduleRow,
} from '../../shared/db/stores/schedules.ts';
import type { Log } from '../../shared/log.ts';
import type { RecurringTickets } from '../../shared/queue/queues.ts';

/** A tick that has not fired by then has lost its ticket, or its ticket's worker. */
const LATE_MS = 300;
/** So that the processes do not look all at once. */
const JITTER_MS = 200;
/** How often a process looks at least: a pattern may have changed, and a round may have lost its process. */
const LOOK_EVERY_MS = 5000;
const RETRY_MS = 500;
/** How far the clock of the queue may be ahead of the database's for a ticket to fire its tick. */
const EARLY_MS = 1000;
/** Missed ticks fire one by one for so long after; those before that fire once, together. */
const MAKE_UP_MS = 60_000;

export interface SchedulerSteps {
  pool: Pool;
  recurrence: Recurrence;
  tickets: RecurringTickets;
  /** Works on the round of a schedule, unless this process already does. */
  round(name: string): void;
  log: Log;
}

/**
 * Fires the ticks of the recurring work. A row of each schedule says which tick is next, by the database's clock, and
 * firing it moves the row on: so each fires once, however many processes there are and whatever the queue delivers. Tickets
 * only say when to look; a process that gets none looks by itself, a moment later.
 */
export class Scheduler {
  readonly #steps: SchedulerSteps;
  readonly #closed = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(steps: SchedulerSteps) {
    this.#steps = steps;
  }

  /** Plants what is on and removes what is off, for all processes: the one that started last decides. */
  async start(): Promise<void> {
    const { pool, recurrence } = this.#steps;
    const now = await databaseNow(pool);
    for (const [name, pattern] of Object.entries(recurrence)) {
      const next = pattern === null ? undefined : nextTick(pattern, now);
      const isOn = pattern !== null && next !== undefined;
      await plantSchedule(pool, name, isOn ? { pattern, nextTick: next } : null);
      this.#plant(name, isOn ? pattern : null);
    }
    this.#lookLater(0);
  }

  /** A ticket says that a tick is due. */
  async take(): Promise<void> {
    const untilTickMs = await this.#look();
    if (untilTickMs > EARLY_MS) return;
    const { signal } = this.#closed;
    await sleep(untilTickMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await this.#look();
  }

  /** Fires no more. Does not wait for a pending call of `take`. */
  async close(): Promise<void> {
    this.#closed.abort();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #lookLater(ms: number): void {
    if (this.#closed.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look()
        .catch((error: unknown) => {
          this.#steps.log.warn({ err: error }, 'could not look at the schedules');
          return RETRY_MS;
        })
        .then((untilTickMs) => {
          const waitMs = Math.max(0, untilTickMs) + LATE_MS + Math.random() * JITTER_MS;
          this.#lookLater(Math.min(waitMs, LOOK_EVERY_MS));
        });
    }, ms);
  }

  /** Fires what is due, and takes on rounds that nobody works on. Resolves with the milliseconds to the next tick. */
  async #look(): Promise<number> {
    let untilTickMs = Number.POSITIVE_INFINITY;
    for (const row of await readSchedules(this.#steps.pool)) {
      if (row.untilFreeMs !== null && row.untilFreeMs <= 0) this.#steps.round(row.name);
      untilTickMs = Math.min(untilTickMs, await this.#fireDue(row));
    }
    return untilTickMs;
  }

  async #fireDue({ name, pattern, nextTick: first, untilTickMs }: ScheduleRow): Promise<number> {
    const { pool, log } = this.#steps;
    const now = first - untilTickMs;
    let tick = first;
    while (tick <= now && !this.#closed.signal.aborted) {
      const next = nextTick(pattern, Math.max(tick, now - MAKE_UP_MS));
      if (next === undefined) break;
      const isFired = await fire(pool, { name, pattern, tick, nextTick: next });
      if (isFired) {
        log.debug({ schedule: name, tick: new Date(tick), lateMs: Math.round(now - tick) }, 'tick');
        this.#steps.round(name);
        if (now - tick >= LATE_MS) this.#plant(name, pattern);
      }
      tick = next;
    }
    return tick - now;
  }

  /** Not waited for: without tickets the ticks fire too, if later. */
  #plant(name: string, pattern: string | null): void {
    const { tickets, log } = this.#steps;
    const planted = pattern === null ? tickets.remove(name) : tickets.plant(name, pattern);
    planted.catch((error: unknown) =>
      log.warn({ err: error, schedule: name }, 'the queue takes no schedule'),
    );
  }
}
