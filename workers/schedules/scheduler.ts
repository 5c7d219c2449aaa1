import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { nextTick, type Recurrence } from '../../shared/config/recurrence.ts';
import {
  databaseNow,
  fireTick,
  readSchedules,
  type ScheduleRow,
  setSchedule,
} from '../../shared/db/stores/schedules.ts';
import type { Log } from '../../shared/log.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import type { Rest } from '../../shared/timing/rest.ts';
import { type RoundDependencies, Rounds } from './rounds.ts';

/** Maximum random delay, so that processes do not all read the schedules at the same time. */
const JITTER_MS = 50;
/** Maximum time between two reads of the schedules: a pattern may change, or a process may die during a round. */
const READ_EVERY_MS = { busy: 5000, resting: 30_000 };
const RETRY_MS = 500;
/** Missed ticks up to this age fire one by one. All older ones together fire once. */
const CATCH_UP_MS = 60_000;

export interface SchedulerDependencies {
  pool: Pool;
  em: () => EntityManager;
  recurrence: Recurrence;
  rounds: Pick<Rounds, 'run'>;
  rest: Rest;
  log: Log;
}

/**
 * Starts recurring jobs at the times of their cron patterns (ticks). Firing a tick stores the next tick in the
 * schedule's row, so each tick fires once, however many processes run.
 */
class Scheduler {
  readonly #dependencies: SchedulerDependencies;
  readonly #stopController = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(dependencies: SchedulerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Stores the schedules for all processes. If processes are configured differently, the last one to start decides. */
  async start(): Promise<void> {
    const { pool, em, recurrence } = this.#dependencies;
    const now = await databaseNow(pool);
    for (const [name, pattern] of Object.entries(recurrence)) {
      const next = pattern === null ? undefined : nextTick(pattern, now);
      const isOn = pattern !== null && next !== undefined;
      await setSchedule(em(), name, isOn ? { pattern, nextTick: next } : null);
    }
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stopController.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopController;
    while (!signal.aborted) {
      const untilTickMs = await this.#checkSchedules().catch((error: unknown) => {
        this.#dependencies.log.warn({ err: error }, 'could not look at the schedules');
        return RETRY_MS;
      });
      const waitMs = Math.max(0, untilTickMs) + Math.random() * JITTER_MS;
      const readEveryMs = this.#dependencies.rest.isResting ? READ_EVERY_MS.resting : READ_EVERY_MS.busy;
      await sleep(Math.min(waitMs, readEveryMs), undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Fires due ticks, and continues rounds whose process has died. Resolves with the milliseconds until the next tick.
   */
  async #checkSchedules(): Promise<number> {
    let untilTickMs = Number.POSITIVE_INFINITY;
    for (const row of await readSchedules(this.#dependencies.em())) {
      if (row.untilFreeMs !== null && row.untilFreeMs <= 0) this.#dependencies.rounds.run(row.name);
      untilTickMs = Math.min(untilTickMs, await this.#fireDue(row));
    }
    return untilTickMs;
  }

  async #fireDue({ name, pattern, nextTick: first, untilTickMs }: ScheduleRow): Promise<number> {
    const { em, rounds, log } = this.#dependencies;
    const now = first - untilTickMs;
    const soonest = nextTick(pattern, now);
    // The stored tick is too late if the database's clock was ahead when the tick was stored.
    if (soonest !== undefined && soonest < first)
      await setSchedule(em(), name, { pattern, nextTick: soonest });
    let tick = first;
    while (tick <= now && !this.#stopController.signal.aborted) {
      const next = nextTick(pattern, Math.max(tick, now - CATCH_UP_MS));
      if (next === undefined) break;
      if (await fireTick(em(), { name, pattern, tick, nextTick: next })) {
        log.debug({ schedule: name, tick: new Date(tick), lateMs: Math.round(now - tick) }, 'tick');
        rounds.run(name);
      }
      tick = next;
    }
    return tick - now;
  }
}

export async function openScheduler(
  opening: AsyncDisposableStack,
  dependencies: RoundDependencies,
): Promise<void> {
  const { config, database, heartbeat, log } = dependencies;
  const rounds = opening.adopt(new Rounds(dependencies), closePart);
  const { pool, em } = database;
  const scheduler = new Scheduler({
    pool,
    em,
    recurrence: config.recurrence,
    rounds,
    rest: heartbeat.rest,
    log,
  });
  await opening.adopt(scheduler, closePart).start();
}
