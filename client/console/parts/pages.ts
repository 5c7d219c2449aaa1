import { useState } from 'preact/hooks';
import type { Change } from './changes.ts';
import { useAction, useLoad } from './hooks.ts';

interface Page<Row> {
  results: readonly Row[];
  next: string | null;
}

/** Loads the first page as `useLoad` does, and the next one at each `more`. Those go when the first is loaded again. */
export function usePages<Row, Loaded extends Page<Row>>(
  load: (cursor?: { cursor: string }) => Promise<Loaded & Page<Row>>,
  keys: readonly unknown[],
  of?: readonly Change[],
) {
  const first = useLoad(() => load(), keys, of);
  const [later, setLater] = useState<{ after: unknown; pages: readonly Page<Row>[] }>();
  const pages: Page<Row>[] = [];
  if (first.value !== undefined) pages.push(first.value);
  if (later !== undefined && later.after === first.value) pages.push(...later.pages);
  const cursor = pages.at(-1)?.next ?? null;
  const more = useAction(async () => {
    if (cursor === null) return;
    const page = await load({ cursor });
    setLater({ after: first.value, pages: [...pages.slice(1), page] });
  });
  return { first, rows: pages.flatMap(({ results }) => results), hasMore: cursor !== null, more };
}
