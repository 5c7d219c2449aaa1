import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import { arraysOf } from '../rows.ts';
import { query } from '../statement.ts';

/** The database's time in Unix milliseconds. The clocks of the ingresses may differ from each other. */
const NOW_MS_SQL = '(extract(epoch from now()) * 1000)::bigint';
/** `now()` may be earlier: the statement may have waited for a lock while another one opened a window. */
const CLOCK_MS_SQL = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/**
 * Locks the rows in key order, as every statement on this table must, so that no two deadlock. Points for a window that
 * has ended are not counted. If their key has no row, a row with 0 points is inserted, which expires at once.
 *
 * A stored window may end later than a new one would, if the clock was set back meanwhile. It counts as ended:
 * otherwise its points would have to last until the clock has caught up.
 */
const COUNT_POINTS = {
  name: 'count_points_v1',
  text: `
    with given as (
      select * from unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[])
          as g (key, points, window_ms, window_end)
    )
    insert into rate_limits as l (key, points, expire)
    select g.key,
           coalesce(sum(g.points) filter (where g.window_end is null), 0)::int,
           ${NOW_MS_SQL} + coalesce(max(g.window_ms) filter (where g.window_end is null), 0)
      from given g
     group by g.key order by g.key
    on conflict (key) do update
       set (points, expire) = (
         select case when c.goes_on then l.points + c.added else excluded.points end,
                case when c.goes_on then l.expire else excluded.expire end
           from (select l.expire > ${NOW_MS_SQL} and l.expire <= ${CLOCK_MS_SQL} + max(g.window_ms) as goes_on,
                        coalesce(sum(g.points) filter (where coalesce(g.window_end, l.expire) = l.expire), 0) as added
                   from given g where g.key = l.key) c)
    returning key, points, (expire - ${NOW_MS_SQL})::int as "leftMs", expire::float8 as window`,
};

/** Returns the key of a limit's points. Hashes the part that may be a person's e-mail or network address. */
export function limitKey(limitName: string, key: string): string {
  return `${limitName}:${hash('sha256', key, 'base64url')}`;
}

/** Points to count for a key, in its current window or, if it has none, in a new one. */
export interface Points {
  key: string;
  /** Negative for a refund. */
  points: number;
  /** Length of the new window, if the key has no current one. */
  windowMs: number;
  /** Id of the only window in which the points count. Once that window is over, they are dropped. */
  window?: number | undefined;
}

/** A key's window directly after a `Points` entry was counted. */
export interface KeyWindow {
  /** Points counted in the window so far, including the entry's own unless they were dropped. */
  points: number;
  /** Time until the window ends; 0 or less if there is no window. */
  leftMs: number;
  /** End of the window in Unix milliseconds, by the database's clock. Serves as the window's id. */
  window: number;
}

/** Counts the entries in order. Returns for each entry the window of its key directly after that entry. */
export async function countPoints(
  pool: Pool,
  batch: readonly Points[],
  { withinMs }: { withinMs: number },
): Promise<KeyWindow[]> {
  const columns = arraysOf(batch, 'key', 'points', 'windowMs', 'window');
  const rows = await query<KeyWindow & { key: string }>(pool, COUNT_POINTS, columns, { withinMs });
  const after = new Map(rows.map(({ key, ...count }) => [key, count]));
  // The statement returns the totals after all entries. Subtracting entries, from last to first, gives the total after
  // each.
  return batch
    .toReversed()
    .map(({ key, points, window }) => {
      const count = after.get(key) ?? { points: 0, leftMs: 0, window: 0 };
      const isCounted = window === undefined || window === count.window;
      after.set(key, isCounted ? { ...count, points: count.points - points } : count);
      return count;
    })
    .toReversed();
}
