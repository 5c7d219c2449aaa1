import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ClusterRow, clustersOf } from '../../../shared/domain/clusters.ts';
import { findWholeClusters, firstThatFit } from '../../../workers/memory/whole-clusters.ts';

type Row = ClusterRow & { isSummarised: boolean };

const MINUTE = 60_000;
/** Has 1500 tokens, so that a cluster has at most four rows. */
const CONTENT = 'word '.repeat(1200);
const CLUSTER_ROWS = 4;
/** Rows that the clusters of three sessions have at most. */
const OPEN_ROWS = 3 * CLUSTER_ROWS;

const drawnRow = fc.record({
  sessionId: fc.constantFrom(null, 'a', 'b'),
  pauseMinutes: fc.constantFrom(0, 1, 5, 20, 31),
  isSummarised: fc.constant(false),
});
const sessions = fc.array(drawnRow, { maxLength: 120, size: 'max' }).map((drawn) => {
  let at = Date.UTC(2026, 4, 1);
  return drawn.map(({ pauseMinutes, ...row }, n): Row => {
    at += pauseMinutes * MINUTE;
    return {
      ...row,
      project: null,
      id: String(n).padStart(4, '0'),
      occurredAt: new Date(at),
      content: CONTENT,
      isHuman: true,
    };
  });
});

const idsOf = (clusters: readonly Row[][]) => clusters.map((rows) => rows.map(({ id }) => id).join());

function search(rows: readonly Row[], minRows: number, isWanted: (cluster: readonly Row[]) => boolean) {
  const readAfter = async (last: Row | undefined, count: number) => {
    const start = last === undefined ? 0 : rows.indexOf(last) + 1;
    return rows.slice(start, start + count);
  };
  return { readAfter, minRows, isWanted };
}

/** Takes up to `limit` rows at a time until none are left, as repeated promotions do. */
async function takeAll(rows: readonly Row[], limit: number, windowRows: number): Promise<Row[][]> {
  const taken: Row[][] = [];
  for (let left = [...rows]; left.length > 0; ) {
    const found = await findWholeClusters(
      search(left, limit, () => true),
      windowRows,
    );
    const fitting = firstThatFit(found, limit);
    assert.ok(fitting.length > 0 || (found[0]?.length ?? 0) > limit, 'the search finds nothing');
    const next = fitting.length > 0 ? fitting : [found[0]?.slice(0, limit) ?? []];
    taken.push(...next);
    left = left.filter((row) => !next.flat().includes(row));
  }
  return taken;
}

describe('search for whole clusters', () => {
  it('repeated searches for a few rows find the same clusters as one search for all rows', () =>
    fc.assert(
      fc.asyncProperty(
        sessions,
        fc.integer({ min: CLUSTER_ROWS, max: 40 }),
        fc.integer({ min: OPEN_ROWS, max: 30 }),
        async (rows, limit, windowRows) => {
          const taken = await takeAll(rows, limit, windowRows);
          assert.deepEqual(idsOf(taken).toSorted(), idsOf(clustersOf(rows)).toSorted());
        },
      ),
    ));

  it('repeated searches find each row once, even if more clusters go on at the same time than can be kept', () =>
    fc.assert(
      fc.asyncProperty(
        sessions,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, limit, windowRows) => {
          const ids = (await takeAll(rows, limit, windowRows)).flat().map(({ id }) => id);
          assert.deepEqual(
            ids.toSorted(),
            rows.map(({ id }) => id),
          );
        },
      ),
    ));

  it('a search finds all wanted clusters, and no others, however many unwanted rows come before', () =>
    fc.assert(
      fc.asyncProperty(sessions, fc.integer({ min: OPEN_ROWS, max: 30 }), async (rows, windowRows) => {
        const isWanted = ({ length }: readonly Row[]) => length >= 3;
        const found = await findWholeClusters(search(rows, rows.length, isWanted), windowRows);
        assert.deepEqual(idsOf(found), idsOf(clustersOf(rows).filter(isWanted)));
      }),
    ));

  /** Makes rows a minute apart, named `<session><number>`. Those of the session `s` are summarised. */
  const rowsNamed = (names: string) =>
    names.split(' ').map((id, n): Row => {
      const occurredAt = new Date(n * MINUTE);
      const sessionId = id.charAt(0);
      return {
        id,
        sessionId,
        project: null,
        occurredAt,
        content: 'x',
        isHuman: true,
        isSummarised: sessionId === 's',
      };
    });

  it('a search finds rows that an episode summarises one by one, and clusters of the other rows', async () => {
    const rows = rowsNamed('a1 s1 s2 a2');
    const found = await findWholeClusters(search(rows, rows.length, () => true));
    assert.deepEqual(idsOf(found), ['a1,a2', 's1', 's2']);
  });

  it('a search that cannot keep all clusters that go on takes those as ended that are silent longest', async () => {
    const rows = rowsNamed('q1 q2 a1 a2 a3 s1 s2 s3 a4 q3');
    const found = await findWholeClusters(
      search(rows, rows.length, () => true),
      4,
    );
    assert.deepEqual(idsOf(found), ['q1,q2', 'a1,a2,a3,a4', 's1', 's2', 's3', 'q3']);
  });
});
