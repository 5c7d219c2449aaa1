/**
 * Milliseconds that this machine's clock is ahead of another one, behind if negative. The other was read at some moment between
 * `before` and `after`, so the drift is at least this; 0 if it may be none.
 */
export function clockAheadMs(before: number, other: number, after: number): number {
  return Math.max(before - other, 0) + Math.min(after - other, 0);
}
