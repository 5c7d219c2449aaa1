/** Earliest time that a client may send, in Unix milliseconds. */
export const EARLIEST_TIME_MS = Date.parse('2000-01-01T00:00:00Z');
/** Maximum time by which a client's clock may be ahead of the server's. */
export const CLOCK_AHEAD_MAX_MS = 24 * 60 * 60 * 1000;

/** Latest time that RFC 3339 can express in UTC. A time zone west of UTC can express later times. */
const LATEST_TIME_MS = Date.parse('9999-12-31T23:59:59.999Z');

const RFC_3339 = /^(?!0000)[-\d]{10}T[:.\d]+(?:Z|[+-]\d\d:?\d\d)$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;

/**
 * Returns Unix milliseconds; undefined if the timestamp is not RFC 3339, or is after the year 9999 in UTC. A zone may
 * lack its colon (ISO 8601). The schema's format also accepts the year 0, leap seconds, and a space instead of the T.
 */
export function parseTimestamp(timestamp: string): number | undefined {
  if (!RFC_3339.test(timestamp)) return undefined;
  const moment = Date.parse(timestamp.toUpperCase().replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return moment <= LATEST_TIME_MS ? moment : undefined;
}

/** Returns midnight UTC for a date, and any other text as it is. */
export function midnightOf(text: string): string {
  return DATE.test(text) ? `${text}T00:00:00Z` : text;
}
