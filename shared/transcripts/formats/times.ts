/** Converts Unix milliseconds to RFC 3339; undefined if it is no time. */
export function timeOfMs(value: unknown): string | undefined {
  const date = new Date(typeof value === 'number' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A larger number of Unix time counts milliseconds: as seconds it is in the year 5138. */
const SECONDS_MAX = 1e11;
const NUMBER = /^\d+(?:\.\d+)?$/;

/** Reads seconds, milliseconds, or a time as programs write it: without a zone it is UTC. */
export function timeIn(value: unknown): string | undefined {
  if (typeof value === 'number') return timeOfMs(value > SECONDS_MAX ? value : Math.round(value * 1000));
  if (typeof value !== 'string') return undefined;
  const time = value.trim().replace(' ', 'T');
  if (NUMBER.test(time)) return timeIn(Number(time));
  return /T[\d:.]+$/.test(time) ? `${time}Z` : time;
}

/** Sorts rows by the time in a property, the earliest first. */
export function byTime<Row extends Readonly<Record<string, unknown>>>(
  rows: readonly Row[],
  property: string,
): Row[] {
  const momentOf = (row: Row) => Date.parse(timeIn(row[property]) ?? '') || 0;
  return rows.toSorted((a, b) => momentOf(a) - momentOf(b));
}
