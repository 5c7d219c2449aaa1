import { randomUUIDv7 } from 'node:crypto';

/** A new id, ordered by time (RFC 9562, version 7). Made here so that the SQL runs on PostgreSQL 15 to 18. */
export function newId(): string {
  return randomUUIDv7();
}

/** New ids in ascending order: those of the same millisecond are otherwise in none. */
export function newIds(count: number): string[] {
  return Array.from({ length: count }, newId).sort();
}

/** The UUID before which all ids of earlier moments are, in Unix milliseconds. */
export function idFrom(moment: number): string {
  const hex = Math.floor(moment).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The moment at which an id was made, in Unix milliseconds; undefined for what is none of ours. */
export function momentOf(id: string): number | undefined {
  return /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/.test(id)
    ? Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    : undefined;
}
