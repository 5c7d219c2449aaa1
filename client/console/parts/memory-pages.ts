import { useEffect, useMemo, useState } from 'preact/hooks';
import { useSignedIn } from './context.ts';
import { useAction, useLoad } from './hooks.ts';
import type { OnView } from './row-range.ts';
import { listTier, type ShownRow, type Tier, type TierPage } from './tiers.ts';

const FIRST_PAGE_SIZE = 100;
/** Size of every further page: one that is loaded again must hold the rows that it held before. */
const PAGE_SIZE = 200;

export interface ShownMemory {
  tier: Tier;
  q: string;
  project: string;
  /** Called with the projects of the loaded rows. */
  onProjects(names: readonly string[]): void;
}

/** A page of rows, with the first page at the time when it was loaded. */
interface LoadedPage extends TierPage {
  of: TierPage;
}

interface Edit {
  row: ShownRow;
  of: TierPage | undefined;
}

/**
 * Loads the first rows, again at each change, and further ones as they come into view. What was loaded before a change
 * stays until then.
 */
export function useMemoryPages({ tier, q, project, onProjects }: ShownMemory) {
  const { client } = useSignedIn();
  const [later, setLater] = useState<readonly LoadedPage[]>([]);
  const [edits, setEdits] = useState<ReadonlyMap<string, Edit>>(new Map());
  const [forgotten, setForgotten] = useState<ReadonlySet<string>>(new Set());
  const pageFrom = (cursor?: string) =>
    listTier(client, tier, {
      limit: cursor === undefined ? FIRST_PAGE_SIZE : PAGE_SIZE,
      ...(q && { q }),
      ...(project && { project }),
      ...(cursor && { cursor }),
    });
  const first = useLoad(() => pageFrom(), [], ['memory']);
  const pages = useMemo(() => {
    if (first.value === undefined) return [];
    return [{ ...first.value, of: first.value }, ...(first.value.next === null ? [] : later)];
  }, [first.value, later]);
  const further = useAction(async (nth: number) => {
    const [of, cursor] = [first.value, pages[nth - 1]?.next];
    if (of === undefined || !cursor) return;
    const page = { ...(await pageFrom(cursor)), of };
    setLater((before) => [
      ...before.slice(0, nth - 1),
      page,
      ...(page.next === null ? [] : before.slice(nth)),
    ]);
  });
  /** Loads what is left, and returns the ids of all rows. */
  const loadAll = async (): Promise<string[]> => {
    const of = first.value;
    const more: LoadedPage[] = [];
    for (let next = pages.at(-1)?.next; of !== undefined && next; next = more.at(-1)?.next)
      more.push({ ...(await pageFrom(next)), of });
    setLater((before) => [...before, ...more]);
    return [...rows, ...more.flatMap((page) => page.rows)].flatMap(({ id, head }) =>
      head === undefined ? id : [],
    );
  };
  const rows = useMemo(() => {
    const shown = new Map<string, ShownRow>();
    for (const page of pages)
      for (const row of page.rows) {
        const edit = edits.get(row.id);
        if (!forgotten.has(row.id)) shown.set(row.id, edit?.of === page.of ? edit.row : row);
      }
    return [...shown.values()];
  }, [pages, edits, forgotten]);
  useEffect(() => onProjects(rows.flatMap(({ project }) => project ?? [])), [rows.length]);
  const onView: OnView = ({ first: from, end, isNearEnd }) => {
    // A page that failed to load is requested again only when the person asks for it.
    if (further.error !== undefined) return;
    let at = 0;
    for (const [nth, page] of pages.entries()) {
      const isInView = at < end && at + page.rows.length > from;
      if (isInView && page.of !== first.value) return further.run(nth);
      at += page.rows.length;
    }
    if (isNearEnd && pages.at(-1)?.next) further.run(pages.length);
  };
  return {
    rows,
    first,
    further,
    hasMore: !!pages.at(-1)?.next,
    onView,
    loadAll,
    edit: (row: ShownRow) => setEdits((before) => new Map(before).set(row.id, { row, of: first.value })),
    drop: (ids: readonly string[]) => setForgotten((before) => new Set([...before, ...ids])),
  };
}
