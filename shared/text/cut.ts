const GAP = '\n…\n';
const HEAD_SHARE = 0.3;

/** Returns at most `max` code points from the beginning. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  // A code point has at most two UTF-16 units, so later units cannot belong to the first `max` code points.
  const points = [...text.slice(0, 2 * max + 2)];
  return points.length <= max ? text : points.slice(0, max).join('');
}

/** Returns at most `max` code points, the last of which is an ellipsis if something was cut. */
export function truncateWithEllipsis(text: string, max: number): string {
  return truncate(text, max) === text ? text : `${truncate(text, max - 1).trimEnd()}…`;
}

/**
 * Returns at most `max` code points. Cuts out the middle, because a prompt usually names its subject at the beginning
 * and asks its question at the end.
 */
export function truncateMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  // Slicing may split a surrogate pair. Its halves are far from the kept head and tail, so they are cut away below.
  const points = text.length > 4 * max ? [...text.slice(0, 2 * max), ...text.slice(-2 * max)] : [...text];
  if (points.length <= max) return text;
  const kept = max - GAP.length;
  const head = Math.floor(kept * HEAD_SHARE);
  return [...points.slice(0, head), ...GAP, ...points.slice(points.length - (kept - head))].join('');
}

/** The text must be well-formed. */
export function codePointsIn(text: string): number {
  let count = text.length;
  // Most texts have no surrogate pairs, and a pattern is faster than a loop over all units.
  if (SURROGATE.test(text))
    for (let at = 0; at < text.length; at++) if (isLowSurrogate(text.charCodeAt(at))) count--;
  return count;
}

const SURROGATE = /[\ud800-\udfff]/;

/** A low surrogate is the second half of a surrogate pair. */
export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
