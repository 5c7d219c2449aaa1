import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { countPoints, type Points } from '../../../shared/db/stores/rate-limits.ts';
import { deleteOldHistory } from '../../../shared/db/stores/work/forget.ts';
import { useDatabase } from '../../support/database.ts';

/** Functions with other settings: they create or drop tables, erase, record, search, or run in transactions. */
const FUNCTIONS_WITH_OTHER_SETTINGS = [
  'announce_v1',
  'drop_weeks_v1',
  'erase_made_with_v1',
  'lock_admissions_v1',
  'make_weeks_v1',
  'memory_context_v1',
  'record_v1',
  'sync_page_v1',
];

const WINDOW_MS = 600_000;

describe('SQL functions', () => {
  const database = useDatabase();

  it('every SQL function called from TypeScript gets the common lock timeout, except those that the test lists', async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select proname as name from pg_proc where proconfig @> array['enable_bitmapscan=off', 'plan_cache_mode=force_generic_plan']`,
    );
    const sources = globSync('shared/db/stores/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const called = new Set(sources.flatMap((source) => source.match(/\b[a-z_]+_v\d+(?=\()/g) ?? []));
    assert.deepEqual(
      [...called].filter((name) => !FUNCTIONS_WITH_OTHER_SETTINGS.includes(name)).sort(),
      rows.map(({ name }) => name).sort(),
    );
  });

  describe('rate-limit points', () => {
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
      const { rows } = await database.pool.query(
        `select key from rate_limits where key in ('over', 'recent')`,
      );
      assert.deepEqual(rows, [{ key: 'recent' }]);
    });
  });
});
