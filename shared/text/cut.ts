const GAP = '\n…\n';
const HEAD_SHARE = 0.3;

/** The beginning of a text, at most so many code points of it. */
export function beginning(text: string, max: number): string {
  if (text.length <= max) return text;
  // A code point is two units at most: what comes later belongs to none of the first.
  const points = [...text.slice(0, 2 * max + 2)];
  return points.length <= max ? text : points.slice(0, max).join('');
}

/** The same, ending in an ellipsis where something was cut. */
export function shortened(text: string, max: number): string {
  return beginning(text, max) === text ? text : `${beginning(text, max - 1).trimEnd()}…`;
}

/** A text without its middle, at most so many code points: a question stands at the end, its subject at the beginning. */
export function withoutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  // Head and tail lie within twice their code points of the ends, so a pair that this cuts in two is in neither.
  const points = text.length > 4 * max ? [...text.slice(0, 2 * max), ...text.slice(-2 * max)] : [...text];
  return points.length <= max ? text : joined(points, max - GAP.length);
}

function joined(points: readonly string[], kept: number): string {
  const head = Math.floor(kept * HEAD_SHARE);
  return [...points.slice(0, head), ...GAP, ...points.slice(points.length - (kept - head))].join('');
}

/** The number of code points of a well-formed text. */
export function codePointsIn(text: string): number {
  let count = text.length;
  // Most texts have no pairs, which a pattern finds out without running code for each unit.
  if (SURROGATE.test(text))
    for (let at = 0; at < text.length; at++) if (isLowSurrogate(text.charCodeAt(at))) count--;
  return count;
}

const SURROGATE = /[\ud800-\udfff]/;

/** The second half of a surrogate pair, in well-formed text. */
export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
