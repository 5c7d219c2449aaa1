import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { LOWEST_ID } from '../../ids.ts';
import { Schedule } from '../entities/process.ts';
import { oneRow } from '../rows.ts';
import { query } from '../statement.ts';

/**
 * A process that takes a page of accounts holds the job's round for this long. Then another process may take it over.
 */
const HOLD_MS = 5000;

/** Times are by the database's clock. */
export interface ScheduleRow {
  name: string;
  pattern: string;
  /** Unix milliseconds. */
  nextTick: number;
  untilTickMs: number;
  /** Time until any process may continue the unfinished round over all accounts; null if no round is unfinished. */
  untilFreeMs: number | null;
}

/** Reads the schedules that are turned on. */
export function readSchedules(em: EntityManager): Promise<ScheduleRow[]> {
  return em.execute<ScheduleRow[]>(
    `select name, pattern, (extract(epoch from next_tick) * 1000)::float8 as "nextTick",
            (extract(epoch from next_tick - clock_timestamp()) * 1000)::float8 as "untilTickMs",
            case when position is not null
              then (extract(epoch from coalesce(held_until, now()) - clock_timestamp()) * 1000)::float8
            end as "untilFreeMs"
       from schedules where pattern is not null and next_tick is not null`,
  );
}

/** Times are Unix milliseconds. */
export interface ListedSchedule {
  name: string;
  /** Null if the job is turned off. */
  pattern: string | null;
  lastTick: number | null;
  nextTick: number | null;
}

const LIST_SCHEDULES = {
  name: 'list_schedules_v1',
  text: `select name, pattern, (extract(epoch from last_tick) * 1000)::float8 as "lastTick",
                (extract(epoch from next_tick) * 1000)::float8 as "nextTick" from schedules`,
};

export function listSchedules(pool: Pool): Promise<ListedSchedule[]> {
  return query<ListedSchedule>(pool, LIST_SCHEDULES, []);
}

const DATABASE_NOW = {
  name: 'now_v1',
  text: 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
};

/** Reads the database's clock, in Unix milliseconds. By this clock, ticks are due. */
export async function databaseNow(pool: Pool): Promise<number> {
  return (await oneRow(query<{ now: number }>(pool, DATABASE_NOW, []))).now;
}

/**
 * Sets the pattern of a recurring job; null turns the job off and ends its round. Changes nothing if the job has this
 * pattern already, unless its stored times are wrong because the clock was ahead.
 */
export async function setSchedule(
  em: EntityManager,
  name: string,
  setting: { pattern: string; nextTick: number } | null,
): Promise<void> {
  await em.execute(
    `insert into schedules as s (name, pattern, next_tick) values (?, ?, to_timestamp(?::float8 / 1000))
     on conflict (name) do update
        set pattern = excluded.pattern, next_tick = excluded.next_tick,
            fired_at = case when s.fired_at > clock_timestamp() then clock_timestamp() else s.fired_at end,
            held_until = case when s.fired_at <= clock_timestamp() then s.held_until end,
            position = case when excluded.pattern is not null then s.position end
      where s.pattern is distinct from excluded.pattern or s.fired_at > clock_timestamp() + clock_slack()
         or excluded.next_tick < s.next_tick and excluded.next_tick > greatest(clock_timestamp(), s.last_tick)`,
    [name, setting?.pattern ?? null, setting?.nextTick ?? null],
  );
}

const CLOCK = raw('clock_timestamp()');

/**
 * Starts a round over all accounts, or continues the unfinished one. Each tick is fired at most once, and never after a
 * later tick. Returns whether this call fired the tick; false also if an earlier try fired it and its answer was lost.
 */
export async function fireTick(
  em: EntityManager,
  { name, pattern, tick, nextTick }: { name: string; pattern: string; tick: number; nextTick: number },
): Promise<boolean> {
  const fired = await em.nativeUpdate(
    Schedule,
    { name, pattern, nextTick: { $eq: new Date(tick), $lte: CLOCK } },
    {
      lastTick: new Date(tick),
      firedAt: CLOCK,
      nextTick: new Date(nextTick),
      step: raw('case when position is null then 0 else step end'),
      heldUntil: raw('case when position is null then null else held_until end'),
      position: raw('coalesce(position, ?)', [LOWEST_ID]),
    },
  );
  return fired > 0;
}

/** Next page of a round over all accounts: the accounts after `position`. One process at a time works on the round. */
export interface RoundPage {
  /** Latest tick, in Unix milliseconds. It started the round, or came during it. */
  tick: number;
  step: number;
  position: string;
  /** Time until the next tick. */
  untilTickMs: number;
}

/** Returns undefined if no round is unfinished, or another process holds it. */
export async function takePage(
  em: EntityManager,
  name: string,
  holder: string,
): Promise<RoundPage | undefined> {
  const [page] = await em.execute<RoundPage[]>(
    `update schedules
        set holder = ?::uuid, held_until = clock_timestamp() + make_interval(secs => ? / 1000.0)
      where name = ? and position is not null
        and (holder = ?::uuid or held_until is null or held_until <= clock_timestamp())
     returning (extract(epoch from last_tick) * 1000)::float8 as tick, step, position,
               (extract(epoch from next_tick - clock_timestamp()) * 1000)::float8 as "untilTickMs"`,
    [holder, HOLD_MS, name, holder],
  );
  return page;
}

/**
 * Moves a round to its next page, which begins after a pause; a null position ends the round. Returns false if the
 * round has already ended, or another process has taken it over.
 */
export async function turnPage(
  em: EntityManager,
  name: string,
  holder: string,
  { step, position, pauseMs }: { step: number; position: string | null; pauseMs: number },
): Promise<boolean> {
  const heldUntil = raw('clock_timestamp() + make_interval(secs => ?)', [(pauseMs + HOLD_MS) / 1000]);
  const unfinished = { name, holder, position: { $ne: null } };
  return (await em.nativeUpdate(Schedule, unfinished, { step, position, heldUntil })) > 0;
}

export async function releaseRounds(em: EntityManager, holder: string): Promise<void> {
  await em.nativeUpdate(Schedule, { holder, position: { $ne: null } }, { heldUntil: CLOCK });
}
