import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ClusterRow, capToClusterSize, clustersOf, isSettled } from '../../../shared/domain/clusters.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 4, 1);

/** Makes rows a second apart. */
function rowsOf(contents: readonly string[], part: Partial<ClusterRow> = {}): ClusterRow[] {
  return contents.map((content, n) => ({
    id: `${part.sessionId ?? ''}-${String(n).padStart(4, '0')}`,
    sessionId: null,
    occurredAt: new Date(START + n * 1000),
    content,
    isHuman: true,
    ...part,
  }));
}

const sizesOf = (clusters: readonly ClusterRow[][]) => clusters.map(({ length }) => length);
const repeatedTexts = (count: number) => Array.from({ length: count }, () => 'the same words as ever');

describe('clusters', () => {
  it('clusters of rows end with their session, and are ordered by their beginning', () => {
    const one = rowsOf(['a', 'b'], { sessionId: 'one' });
    const other = rowsOf(['c', 'd'], { sessionId: 'other' });
    const mixed = [one, other]
      .flatMap(([first]) => first ?? [])
      .concat([one, other].flatMap((rows) => rows.slice(1)));
    assert.deepEqual(clustersOf(mixed), [one, other]);
  });

  it('clusters of rows end before a pause of more than 30 minutes', () => {
    const at = (ms: number) => rowsOf([`row at ${ms}`], { id: String(ms), occurredAt: new Date(START + ms) });
    const rows = [...at(0), ...at(30 * MINUTE), ...at(60 * MINUTE + 1)];
    assert.deepEqual(sizesOf(clustersOf(rows)), [2, 1]);
  });

  it('clusters of rows have at most 40 rows, and at most 6000 tokens unless they have a single row', () => {
    assert.deepEqual(sizesOf(clustersOf(rowsOf(repeatedTexts(95)))), [40, 40, 15]);
    const long = 'a'.repeat(8000);
    assert.deepEqual(sizesOf(clustersOf(rowsOf([long, long, long, long, 'b']))), [3, 2]);
    const huge = '字'.repeat(8000);
    assert.deepEqual(sizesOf(clustersOf(rowsOf([huge, huge]))), [1, 1]);
  });

  const BUILD = [
    'The build fails on the runner with pnpm',
    'pnpm wants another lockfile for the build',
    'Pin the pnpm version of the runner then',
    'The build passes on the runner now',
  ];
  const TRIP = [
    'Which trains go to Vienna in May?',
    'Night trains leave for Vienna at nine',
    'Book two beds for Vienna, a window seat',
    'Vienna in May: two beds on night trains',
  ];

  it('clusters of rows end where the topic shifts, once they have six rows', () => {
    const [first, ...rest] = TRIP;
    const before = [...BUILD, ...BUILD.slice(1, 3)];
    assert.deepEqual(sizesOf(clustersOf(rowsOf([...before, first ?? '', ...rest]))), [6, 4]);
    assert.deepEqual(sizesOf(clustersOf(rowsOf([...BUILD, ...TRIP]))), [8]);
  });

  it('clusters of rows do not end within a topic, even in scripts without spaces', () => {
    assert.deepEqual(sizesOf(clustersOf(rowsOf([...BUILD, ...BUILD, ...BUILD]))), [12]);
    const thai = 'ช่วยดูการสร้างโปรแกรมให้หน่อย';
    const chinese = ['构建在服务器上失败了', '服务器需要新的构建', '请修复服务器的构建', '构建通过了服务器'];
    assert.deepEqual(sizesOf(clustersOf(rowsOf([...chinese, ...chinese, ...chinese]))), [12]);
    assert.deepEqual(sizesOf(clustersOf(rowsOf(Array.from({ length: 12 }, () => thai)))), [12]);
  });

  const row = fc.record({
    content: fc.string({ unit: 'binary', maxLength: 300 }),
    sessionId: fc.constantFrom(null, 'a', 'b'),
    minutes: fc.integer({ min: 0, max: 90 }),
    isHuman: fc.boolean(),
  });
  const rows = fc.array(row, { maxLength: 120 }).map((drawn) =>
    drawn.map(({ minutes, ...one }, n) => ({
      ...one,
      id: String(n).padStart(4, '0'),
      occurredAt: new Date(START + minutes * MINUTE),
    })),
  );

  it('clusters contain each row once, in chronological order, from one session and without a pause over 30 minutes', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const clusters = clustersOf(all);
        const ids = clusters.flat().map(({ id }) => id);
        assert.deepEqual(ids.toSorted(), all.map(({ id }) => id).toSorted());
        for (const cluster of clusters) {
          assert.equal(new Set(cluster.map(({ sessionId }) => sessionId)).size, 1);
          const times = cluster.map(({ occurredAt }) => occurredAt.getTime());
          for (const [at, time] of times.slice(1).entries()) {
            const pause = time - (times[at] ?? 0);
            assert.ok(pause >= 0 && pause <= 30 * MINUTE);
          }
          assert.ok(cluster.length >= 1 && cluster.length <= 40);
          assert.deepEqual(capToClusterSize(cluster), cluster);
        }
      }),
    );
  });

  it('clusters of rows do not depend on the order in which the rows are given', () => {
    fc.assert(
      fc.property(rows, (all) => {
        assert.deepEqual(clustersOf(all.toReversed()), clustersOf(all));
      }),
    );
  });

  it('a client-made episode keeps only as many of its rows as fit into one cluster', () => {
    assert.equal(capToClusterSize(rowsOf(repeatedTexts(60))).length, 40);
    assert.equal(capToClusterSize(rowsOf(['字'.repeat(8000), 'more'])).length, 1);
    assert.deepEqual(capToClusterSize([]), []);
  });
});

describe('settled cluster', () => {
  const lastTimeOf = (rows: readonly ClusterRow[]) => rows.at(-1)?.occurredAt.getTime() ?? 0;

  it('a cluster of at least 3 rows is settled ten minutes after its last row', () => {
    const rows = rowsOf(repeatedTexts(3));
    assert.equal(isSettled(rows, lastTimeOf(rows) + 10 * MINUTE - 1), false);
    assert.equal(isSettled(rows, lastTimeOf(rows) + 10 * MINUTE), true);
  });

  it('a cluster of fewer than 3 rows is settled after 24 hours, or after ten minutes if a person wrote 200 characters', () => {
    const small = [...rowsOf(['x'.repeat(199)]), ...rowsOf(['y'.repeat(500)], { isHuman: false })];
    assert.equal(isSettled(small, lastTimeOf(small) + 24 * HOUR - 1), false);
    assert.equal(isSettled(small, lastTimeOf(small) + 24 * HOUR), true);
    const long = rowsOf(['x'.repeat(200)]);
    assert.equal(isSettled(long, lastTimeOf(long) + 10 * MINUTE), true);
  });
});
