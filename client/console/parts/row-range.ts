import { useEffect, useRef, useState } from 'preact/hooks';

const GUESSED_HEIGHT = 36;
/** Distance above and below the window within which rows stay on the page. */
const KEPT_MARGIN_PIXELS = 900;
/** Number of remaining rows below which the end counts as near. */
const NEAR_END_ROWS = 20;
/** The range moves by so many rows, so that few frames of a scroll render any. */
const STEP_ROWS = 8;

interface RowRange {
  first: number;
  end: number;
  height: number;
}

/** Called with the rows near the window when these or the list change. `isNearEnd` if few rows are left. */
export type OnView = (rows: { first: number; end: number; isNearEnd: boolean }) => void;

/** The rows near the window, of rows of one height. */
export function useRange(
  list: { current: HTMLElement | null },
  rows: readonly unknown[],
  onView?: OnView,
): RowRange {
  const count = rows.length;
  const [range, setRange] = useState<RowRange>({ first: 0, end: 40, height: GUESSED_HEIGHT });
  const look = () => {
    if (list.current === null) return;
    const shown = list.current.querySelector<HTMLElement>('li');
    const height = shown?.offsetHeight || GUESSED_HEIGHT;
    const top = -list.current.getBoundingClientRect().top;
    const step = height * STEP_ROWS;
    const rowAt = (pixels: number, round: (steps: number) => number) =>
      Math.max(0, Math.min(count, round(pixels / step) * STEP_ROWS));
    const first = rowAt(top - KEPT_MARGIN_PIXELS, Math.floor);
    const end = Math.max(first, rowAt(top + innerHeight + KEPT_MARGIN_PIXELS, Math.ceil));
    setRange((now) =>
      now.first === first && now.end === end && now.height === height ? now : { first, end, height },
    );
    onView?.({ first, end, isNearEnd: end > count - NEAR_END_ROWS });
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
    const sizes = new ResizeObserver(soon);
    if (list.current) sizes.observe(list.current);
    addEventListener('scroll', soon, { passive: true });
    return () => {
      sizes.disconnect();
      removeEventListener('scroll', soon);
    };
  }, []);
  useEffect(() => latest.current(), [rows]);
  return range;
}
