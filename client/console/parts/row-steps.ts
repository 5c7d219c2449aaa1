import { useRef, useState } from 'preact/hooks';

interface SteppedRows<T> {
  rows: readonly T[];
  idOf(row: T): string;
  /** Words of a row that only heads those after it: no step leads there. */
  headOf?(row: T): string | undefined;
}

/** The row in the tab order, and steps from it to others; `onStep` gets the id of the row that a step leads to. */
export function useSteps<T>(
  { rows, idOf, headOf }: SteppedRows<T>,
  list: { current: HTMLElement | null },
  onStep: (id: string) => void,
) {
  const [activeId, setActiveId] = useState<string>();
  const place = useRef(0);
  const isHead = (row: T | undefined) => row !== undefined && headOf?.(row) !== undefined;
  const found = activeId === undefined ? -1 : rows.findIndex((row) => idOf(row) === activeId);
  if (found !== -1) place.current = found;
  const active = Math.max(
    rows.findIndex((row) => !isHead(row)),
    Math.min(place.current, rows.length - 1),
  );
  const focus = (row: T | undefined) => {
    const main =
      row && list.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(idOf(row))}"] .main`);
    main?.focus({ preventScroll: true });
    return main;
  };
  const step = (by: number) => {
    let next = active + by;
    while (isHead(rows[next])) next += by;
    const row = rows[next];
    if (row === undefined) return;
    setActiveId(idOf(row));
    onStep(idOf(row));
    focus(row)?.scrollIntoView({ block: 'nearest' });
  };
  return { active, setActiveId, focus, step };
}
