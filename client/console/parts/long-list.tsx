import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface LongListProps<Row> {
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** True if more rows can be loaded. */
  hasMore: boolean;
  children(row: Row): ComponentChildren;
  /** Called repeatedly while the end of the rows is near. */
  onEnd(): void;
}

/** Assumed height of a row that has not been shown yet, in pixels. */
const GUESSED_HEIGHT = 160;
/** Distance above and below the window within which rows stay on the page. */
const KEPT_MARGIN_PIXELS = 1200;
/** Number of remaining rows below which the end counts as near. */
const NEAR_END_ROWS = 40;

/** Keeps only rows near the window on the page; blank space of the same height replaces all others. */
export function LongList<Row>({ rows, keyOf, hasMore, children, onEnd }: LongListProps<Row>) {
  const list = useRef<HTMLUListElement>(null);
  const heights = useRef(new Map<string, number>());
  const [range, setRange] = useState({ first: 0, end: 12, above: 0, below: 0 });
  const height = (row: Row) => heights.current.get(keyOf(row)) ?? GUESSED_HEIGHT;

  const look = () => {
    if (list.current === null) return;
    const top = -list.current.getBoundingClientRect().top;
    const next = rangeOf(rows.map(height), top - KEPT_MARGIN_PIXELS, top + innerHeight + KEPT_MARGIN_PIXELS);
    setRange((now) => (isSame(now, next) ? now : next));
    if (next.end > rows.length - NEAR_END_ROWS) onEnd();
  };
  const latest = useRef(look);
  latest.current = look;

  useEffect(() => {
    let isDue = false;
    const soon = () => {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        latest.current();
      });
    };
    // A row grows when it is opened. All rows grow when the window becomes narrower.
    const sizes = new ResizeObserver(() => {
      for (const child of list.current?.children ?? [])
        if (child instanceof HTMLElement && child.dataset['key'])
          heights.current.set(child.dataset['key'], child.offsetHeight);
      soon();
    });
    if (list.current) sizes.observe(list.current);
    addEventListener('scroll', soon, { passive: true });
    return () => {
      sizes.disconnect();
      removeEventListener('scroll', soon);
    };
  }, []);
  useEffect(() => latest.current(), [rows]);

  return (
    <ul ref={list} class="long" style={{ paddingTop: `${range.above}px`, paddingBottom: `${range.below}px` }}>
      {rows.slice(range.first, range.end).map((row, at) => (
        <li
          key={keyOf(row)}
          data-key={keyOf(row)}
          aria-posinset={range.first + at + 1}
          aria-setsize={hasMore ? -1 : rows.length}
        >
          {children(row)}
        </li>
      ))}
    </ul>
  );
}

interface RowRange {
  first: number;
  end: number;
  above: number;
  below: number;
}

/** Returns the range of rows between two positions in pixels, and the height of the rows above and below it. */
function rangeOf(heights: readonly number[], from: number, to: number): RowRange {
  let at = 0;
  let first = 0;
  while (first < heights.length - 1 && at + (heights[first] ?? 0) < from) at += heights[first++] ?? 0;
  const above = at;
  let end = first;
  while (end < heights.length && at < to) at += heights[end++] ?? 0;
  let below = 0;
  for (let rest = end; rest < heights.length; rest += 1) below += heights[rest] ?? 0;
  return { first, end, above, below };
}

const isSame = (a: RowRange, b: RowRange) =>
  a.first === b.first && a.end === b.end && a.above === b.above && a.below === b.below;
