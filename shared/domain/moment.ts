/** No time of a client's is earlier. In milliseconds, like the other one. */
export const EARLIEST = Date.parse('2000-01-01T00:00:00Z');
/** The most by which a client's clock may be ahead of ours. */
export const AHEAD_MAX_MS = 24 * 60 * 60 * 1000;

const RFC_3339 = /^(?!0000)[-\d]{10}T[:.\d]+(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * In milliseconds. The schema's format checks the calendar, but accepts the year 0, which there was not, leap seconds, a
 * space for the T, and zones without a colon.
 */
export function momentOf(timestamp: string): number | undefined {
  const moment = RFC_3339.test(timestamp) ? Date.parse(timestamp.toUpperCase()) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}
