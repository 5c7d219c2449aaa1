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
 * lack its colon (ISO 8601). Does not know how many days a month has.
 */
export function parseTimestamp(timestamp: string): number | undefined {
  if (!RFC_3339.test(timestamp)) return undefined;
  const moment = Date.parse(timestamp.toUpperCase().replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return moment <= LATEST_TIME_MS ? moment : undefined;
}

/** Parses a time as `parseTimestamp` does, and a date as its midnight in UTC. */
export function momentOf(text: string): number | undefined {
  return parseTimestamp(DATE.test(text) ? `${text}T00:00:00Z` : text);
}

/** Returns the moment of a text that a schema has accepted as a time or a date. */
export function dateOf(accepted: string): Date {
  return new Date(momentOf(accepted) ?? Number.NaN);
}
