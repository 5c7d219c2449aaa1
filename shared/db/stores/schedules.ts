import type { Pool } from 'pg';
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

const READ_SCHEDULES = {
  name: 'schedules_v1',
  text: `select name, pattern, (extract(epoch from next_tick) * 1000)::float8 as "nextTick",
                (extract(epoch from next_tick - clock_timestamp()) * 1000)::float8 as "untilTickMs",
                case when position is not null
                  then (extract(epoch from coalesce(held_until, now()) - clock_timestamp()) * 1000)::float8
                end as "untilFreeMs"
           from schedules where pattern is not null and next_tick is not null`,
};

/** Reads the schedules that are turned on. */
export function readSchedules(pool: Pool): Promise<ScheduleRow[]> {
  return query<ScheduleRow>(pool, READ_SCHEDULES, []);
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
  const [row] = await query<{ now: number }>(pool, DATABASE_NOW, []);
  if (row === undefined) throw new Error('the database answered nothing');
  return row.now;
}

const SET_SCHEDULE = {
  name: 'plant_schedule_v3',
  text: `insert into schedules as s (name, pattern, next_tick) values ($1, $2, to_timestamp($3::float8 / 1000))
         on conflict (name) do update
            set pattern = excluded.pattern, next_tick = excluded.next_tick,
                fired_at = case when s.fired_at <= clock_timestamp() then s.fired_at end,
                held_until = case when s.fired_at <= clock_timestamp() then s.held_until end,
                position = case when excluded.pattern is not null then s.position end
          where s.pattern is distinct from excluded.pattern or s.fired_at > clock_timestamp() + clock_slack()
             or excluded.next_tick < s.next_tick and excluded.next_tick > greatest(clock_timestamp(), s.last_tick)`,
};

/**
 * Sets the pattern of a recurring job; null turns the job off and ends its round. Changes nothing if the job has this
 * pattern already, unless its stored times are wrong because the clock was ahead.
 */
export async function setSchedule(
  pool: Pool,
  name: string,
  setting: { pattern: string; nextTick: number } | null,
): Promise<void> {
  await query(pool, SET_SCHEDULE, [name, setting?.pattern ?? null, setting?.nextTick ?? null]);
}

const FIRE_TICK = {
  name: 'fire_schedule_v1',
  text: `update schedules
            set last_tick = next_tick, fired_at = clock_timestamp(), next_tick = to_timestamp($3::float8 / 1000),
                step = case when position is null then 0 else step end,
                held_until = case when position is null then null else held_until end,
                position = coalesce(position, '00000000-0000-0000-0000-000000000000')
          where name = $1 and pattern = $4 and next_tick = to_timestamp($2::float8 / 1000)
            and next_tick <= clock_timestamp()
         returning name`,
};

/**
 * Starts a round over all accounts, or continues the unfinished one. Each tick is fired at most once, and never after a
 * later tick. Returns whether this call fired the tick; false also if an earlier try fired it and its answer was lost.
 */
export async function fireTick(
  pool: Pool,
  { name, pattern, tick, nextTick }: { name: string; pattern: string; tick: number; nextTick: number },
): Promise<boolean> {
  return (await query(pool, FIRE_TICK, [name, tick, nextTick, pattern])).length > 0;
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

const TAKE_PAGE = {
  name: 'take_page_v1',
  text: `update schedules
            set holder = $2::uuid, held_until = clock_timestamp() + make_interval(secs => $3 / 1000.0)
          where name = $1 and position is not null
            and (holder = $2::uuid or held_until is null or held_until <= clock_timestamp())
         returning (extract(epoch from last_tick) * 1000)::float8 as tick, step, position,
                   (extract(epoch from next_tick - clock_timestamp()) * 1000)::float8 as "untilTickMs"`,
};

/** Returns undefined if no round is unfinished, or another process holds it. */
export async function takePage(pool: Pool, name: string, holder: string): Promise<RoundPage | undefined> {
  const [page] = await query<RoundPage>(pool, TAKE_PAGE, [name, holder, HOLD_MS]);
  return page;
}

const TURN_PAGE = {
  name: 'turn_page_v1',
  text: `update schedules
            set step = $3, position = $4::uuid,
                held_until = clock_timestamp() + make_interval(secs => ($5::float8 + ${HOLD_MS}) / 1000.0)
          where name = $1 and holder = $2::uuid and position is not null
         returning name`,
};

/**
 * Moves a round to its next page, which begins after a pause; a null position ends the round. Returns false if the
 * round has already ended, or another process has taken it over.
 */
export async function turnPage(
  pool: Pool,
  name: string,
  holder: string,
  { step, position, pauseMs }: { step: number; position: string | null; pauseMs: number },
): Promise<boolean> {
  return (await query(pool, TURN_PAGE, [name, holder, step, position, pauseMs])).length > 0;
}

const RELEASE_ROUNDS = {
  name: 'release_rounds_v1',
  text: 'update schedules set held_until = clock_timestamp() where holder = $1::uuid and position is not null',
};

export async function releaseRounds(pool: Pool, holder: string): Promise<void> {
  await query(pool, RELEASE_ROUNDS, [holder]);
}
