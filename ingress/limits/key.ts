import { hash } from 'node:crypto';
import type { Limit } from './limiter.ts';

/** What the store calls a key: it may be a person's e-mail or network address, which counters do not need. */
export function keyOf({ name }: Limit, key: string): string {
  return `${name}:${hash('sha256', key, 'base64url')}`;
}
