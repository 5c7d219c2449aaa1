import assert from 'node:assert/strict';
import { countPoints, type Points } from '../../../shared/db/stores/rate-limits.ts';
import { deleteOldHistory } from '../../../shared/db/stores/work/forget.ts';
import { useDatabase } from '../../support/database.ts';

const WINDOW_MS = 600_000;

describe('rate-limit points', () => {
  const database = useDatabase();

  const count = async (...batch: [key: string, points: number, windowMs?: number][]) => {
    const points: Points[] = batch.map(([key, n, windowMs = WINDOW_MS]) => ({ key, points: n, windowMs }));
    return countPoints(database.pool, points, { withinMs: 5000 });
  };
  const pointsOf = (counts: { points: number }[]) => counts.map(({ points }) => points);

  it('rate-limit points are each counted once when 60 concurrent statements name the same two keys in opposite orders', async () => {
    const batches = Array.from({ length: 60 }, (_, n) => {
      const both: [string, number][] = [
        ['x', 1],
        ['y', 1],
      ];
      return count(...(n % 2 === 0 ? both : both.toReversed()));
    });
    await Promise.all(batches);
    assert.deepEqual(pointsOf(await count(['x', 1], ['y', 1])), [61, 61]);
  });

  it('rate-limit points are deleted an hour after the end of their window', async () => {
    await count(['over', 1], ['recent', 1]);
    const ago = (key: string, hours: number) =>
      database.pool.query(
        `update rate_limits set expire = (extract(epoch from now() - make_interval(mins => $2::int)) * 1000)::bigint where key = $1`,
        [key, Math.round(60 * hours)],
      );
    await Promise.all([ago('over', 1.1), ago('recent', 0.9)]);
    await deleteOldHistory(database.pool);
    const { rows } = await database.pool.query(`select key from rate_limits where key in ('over', 'recent')`);
    assert.deepEqual(rows, [{ key: 'recent' }]);
  });
});
