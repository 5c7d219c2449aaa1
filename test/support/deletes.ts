import type { System } from './system.ts';

/** Records, from now on, how many rows of work, history and replies each statement deletes. */
export async function noteDeletes({ database: { pool } }: System): Promise<void> {
  await pool.query(`
    create table deletes (rows bigint);
    create function note_delete() returns trigger language plpgsql as $$
    begin
      insert into deletes select count(*) from gone;
      return null;
    end $$;
    do $$
    declare one text;
    begin
      foreach one in array array['work', 'history', 'replies'] || array(
        select inhrelid::regclass::text from pg_inherits where inhparent = 'history'::regclass)
      loop
        execute format('create trigger note_delete after delete on %I referencing old table as gone
                          for each statement execute function note_delete()', one);
      end loop;
    end $$`);
}

export async function largestDelete({ database: { pool } }: System): Promise<number> {
  const { rows } = await pool.query<{ most: number }>('select max(rows)::int as most from deletes');
  return rows[0]?.most ?? 0;
}
