import type { Pool } from 'pg';

/** Creates the history partitions of the last six weeks. The product creates none for past weeks. */
export async function makePastWeeks(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string; from: string; to: string }>(`
    select 'history_' || to_char(week, 'YYYYMMDD') as name, week || '+00' as from, week + interval '1 week' || '+00' as to
      from (select date_trunc('week', now() at time zone 'UTC') - n * interval '1 week' as week
              from generate_series(1, 6) n) w`);
  for (const { name, from, to } of rows)
    await pool.query(
      `create table if not exists ${name} partition of history for values from ('${from}') to ('${to}')`,
    );
}
