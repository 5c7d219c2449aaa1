import { randomUUIDv7 } from 'node:crypto';

/** A new id, ordered by time (RFC 9562, version 7). Made here so that the SQL runs on PostgreSQL 15 to 18. */
export function newId(): string {
  return randomUUIDv7();
}

/** New ids in ascending order: those of the same millisecond are otherwise in none. */
export function newIds(count: number): string[] {
  return Array.from({ length: count }, newId).sort();
}
