import { LRUCache } from 'lru-cache';
import type { Log } from '../../shared/log.ts';

const INTERVAL_MS = 60_000;
const ENTRIES_MAX = 10_000;

/**
 * Records when a key is used, at most once a minute for each: a key's last use is known to the minute, and a busy key
 * does not cost a write for each call. Nobody waits for the write; one that fails is retried with the key's next use.
 */
export function noteKeyUse(write: (hash: Buffer) => Promise<void>, log: Log): (hash: Buffer) => void {
  const written = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: INTERVAL_MS });
  return (hash) => {
    const name = hash.toString('base64');
    if (written.has(name)) return;
    written.set(name, true);
    write(hash).catch((error: unknown) => {
      written.delete(name);
      log.warn({ err: error }, "could not record a key's use");
    });
  };
}
