import type { TestDatabase } from './database.ts';

const FIRINGS_TRIGGER = `
  create table firings (tick timestamptz not null, at timestamptz not null default clock_timestamp());
  create function note_firing() returns trigger language plpgsql as $$
    begin insert into firings (tick) values (new.last_tick); return null; end $$;
  create trigger note_firing after update on schedules
    for each row when (new.name = 'sync' and new.fired_at is distinct from old.fired_at) execute function note_firing()`;

/** Records every firing of a tick of `sync` from now on, in all processes. */
export async function noteFirings({ pool }: Pick<TestDatabase, 'pool'>): Promise<void> {
  await pool.query(FIRINGS_TRIGGER);
}

/** Returns the ticks of `sync` that fired, each with the delay of its first firing. */
export async function firingsOf({ pool }: Pick<TestDatabase, 'pool'>) {
  const { rows } = await pool.query<{ tick: number; count: number; lateMs: number }>(
    `select (extract(epoch from tick) * 1000)::float8 as tick, count(*)::int as count,
            (extract(epoch from min(at) - tick) * 1000)::float8 as "lateMs"
       from firings group by tick order by tick`,
  );
  return rows;
}
