/** Converts Unix milliseconds to RFC 3339; undefined if it is no time. */
export function timeOfMs(value: unknown): string | undefined {
  const date = new Date(typeof value === 'number' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

export function timeOfSeconds(value: unknown): string | undefined {
  return typeof value === 'number' ? timeOfMs(Math.round(value * 1000)) : undefined;
}

/** Reads seconds, or a time as programs write it: without a zone it is UTC. */
export function timeIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return timeOfSeconds(value);
  const time = value.trim().replace(' ', 'T');
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
