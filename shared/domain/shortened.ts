const GAP = '\n…\n';
const HEAD_SHARE = 0.3;

/** The text, at most so many code points long. Its middle is cut: a question stands at the end, its subject at the beginning. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  // Head and tail lie within twice their code points of the ends, so a pair that this cuts in two is in neither.
  const points = text.length > 4 * max ? [...text.slice(0, 2 * max), ...text.slice(-2 * max)] : [...text];
  if (points.length <= max) return text;
  const kept = max - GAP.length;
  const head = Math.floor(kept * HEAD_SHARE);
  return [...points.slice(0, head), ...GAP, ...points.slice(points.length - (kept - head))].join('');
}
