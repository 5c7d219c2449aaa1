import { randomUUIDv7 } from 'node:crypto';

/**
 * Makes an id that sorts by time (RFC 9562, version 7). PostgreSQL has a function for such ids only from version 18 on.
 */
export function newId(): string {
  return randomUUIDv7();
}

/** Sorts the ids, because ids of the same millisecond are in random order. */
export function newIds(count: number): string[] {
  return Array.from({ length: count }, newId).sort();
}

export function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

export const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** All ids made before `unixMs` sort before the returned id. */
export function lowestIdAt(unixMs: number): string {
  const hex = Math.floor(unixMs).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Returns Unix milliseconds; undefined for a text that is not one of our ids. */
export function timeOfId(id: string): number | undefined {
  return /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/.test(id)
    ? Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    : undefined;
}
