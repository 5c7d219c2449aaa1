import type { Pool } from 'pg';
import { query } from '../statement.ts';

/** By the database's clock, so that the ingresses' need not agree. */
const NOW_MS = '(extract(epoch from now()) * 1000)::bigint';

/** Rows are locked in the order of their keys, everywhere. */
const COUNT = {
  name: 'count_points_v1',
  text: `
    insert into rate_limits as l (key, points, expire)
    select u.key, sum(u.points)::int, max(${NOW_MS} + u.window_ms)
      from unnest($1::text[], $2::int[], $3::bigint[]) as u (key, points, window_ms)
     group by u.key order by u.key
    on conflict (key) do update
       set points = excluded.points + case when l.expire > ${NOW_MS} then l.points else 0 end,
           expire = case when l.expire > ${NOW_MS} then l.expire else excluded.expire end
    returning key, points, (expire - ${NOW_MS})::int as "leftMs"`,
};

export interface Points {
  key: string;
  /** Negative: given back. */
  points: number;
  /** How long a window is that begins with them. */
  windowMs: number;
}

export interface Count {
  /** Of the window so far, these included. */
  points: number;
  leftMs: number;
}

/** Counts points of any keys in their present windows, one after the other. Gives up after `withinMs`. */
export async function countPoints(
  pool: Pool,
  batch: readonly Points[],
  { withinMs }: { withinMs: number },
): Promise<Count[]> {
  const columns = [
    batch.map(({ key }) => key),
    batch.map(({ points }) => points),
    batch.map(({ windowMs }) => windowMs),
  ];
  const rows = await query<Count & { key: string }>(pool, COUNT, columns, { withinMs });
  const after = new Map(rows.map((row) => [row.key, row]));
  // From the last to the first, each sees what was counted without those that came after it.
  return batch
    .toReversed()
    .map(({ key, points }) => {
      const { points: total = 0, leftMs = 0 } = after.get(key) ?? {};
      after.set(key, { key, points: total - points, leftMs });
      return { points: total, leftMs };
    })
    .toReversed();
}
