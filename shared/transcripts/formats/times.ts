/** Converts Unix milliseconds to RFC 3339; undefined if it is no time. */
export function timeOfMs(value: unknown): string | undefined {
  const date = new Date(typeof value === 'number' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

export function timeOfSeconds(value: unknown): string | undefined {
  return typeof value === 'number' ? timeOfMs(Math.round(value * 1000)) : undefined;
}
