import { randomUUIDv7 } from 'node:crypto';

/** A new id, ordered by time (RFC 9562, version 7). Made here so that the SQL runs on PostgreSQL 15 to 18. */
export function newId(): string {
  return randomUUIDv7();
}
