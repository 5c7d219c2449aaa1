import {
  byStart,
  type ClusterRow,
  clustersOf,
  isAfterGap,
  sessionAndProject,
} from '../../shared/domain/clusters.ts';

/** Number of rows read at a time, and the maximum number of rows kept of clusters that may go on. */
const WINDOW_ROWS = 500;

interface Row extends ClusterRow {
  /** True if the row belongs to an episode. It is then found by itself, not in a cluster. */
  isSummarised: boolean;
}

interface ClusterSearch<R extends Row> {
  /** Reads the next `count` rows after a row in order of time. If it reads fewer, they are the last. */
  readAfter: (last: R | undefined, count: number) => Promise<R[]>;
  isWanted: (cluster: readonly R[]) => boolean;
  /** Number of wanted rows after which the search ends. */
  minRows: number;
}

/**
 * Finds wanted clusters, in order of time. A cluster that may go on beyond the rows read so far is kept until its end
 * is read. It is left out if enough rows are found before.
 */
export async function findWholeClusters<R extends Row>(
  { readAfter, isWanted, minRows }: ClusterSearch<R>,
  windowRows = WINDOW_ROWS,
): Promise<R[][]> {
  const found: R[][] = [];
  let openClusters = new Set<R[]>();
  let last: R | undefined;
  do {
    const rows = await readAfter(last, windowRows);
    last = rows.length < windowRows ? undefined : rows.at(-1);
    const clusters = clustersOf([...[...openClusters].flat(), ...rows.filter((row) => !row.isSummarised)]);
    openClusters = new Set(last && clustersOpenAt(last, clusters, windowRows));
    found.push(
      ...rows.filter((row) => row.isSummarised).map((row) => [row]),
      ...clusters.filter((cluster) => !openClusters.has(cluster) && isWanted(cluster)),
    );
  } while (last !== undefined && found.flat().length < minRows);
  return byStart(found);
}

/**
 * Returns the clusters that rows after `last` may continue. If they have more than `rowsMax` rows, those that have been
 * silent for the longest time count as ended.
 */
function clustersOpenAt<R extends Row>(last: R, clusters: readonly R[][], rowsMax: number): R[][] {
  const lastOfSessions = new Map(
    clusters.map((cluster) => [cluster[0] && sessionAndProject(cluster[0]), cluster]),
  );
  const open = [...lastOfSessions.values()].filter((cluster) => !isAfterGap(cluster.at(-1), last));
  const endOf = (cluster: readonly R[]) => cluster.at(-1)?.occurredAt.getTime() ?? 0;
  return firstThatFit(
    open.toSorted((one, other) => endOf(other) - endOf(one)),
    rowsMax,
  );
}

/** Returns the first clusters, as many as have no more than `limit` rows together. */
export function firstThatFit<R>(clusters: readonly R[][], limit: number): R[][] {
  let count = 0;
  const end = clusters.findIndex(({ length }) => {
    count += length;
    return count > limit;
  });
  return clusters.slice(0, end < 0 ? clusters.length : end);
}
