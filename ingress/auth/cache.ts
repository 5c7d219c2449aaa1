import { LRUCache } from 'lru-cache';
import type { Log } from '../../shared/log.ts';

/** Revoked credentials must stop working within two seconds; half of that is for the way. */
const TTL_MS = 1000;
const USE_RECORDED_EVERY_MS = 60_000;
const ENTRIES_MAX = 10_000;

/** Look-ups, cached. */
export interface LookUps<Key, Found> {
  find(key: Key): Promise<Found | undefined>;
  /** True if the key was found lately, or is known for the moment not to exist: then there is nothing to guess. */
  remembers(key: Key): boolean;
}

/**
 * Caches for a second what a look-up found, and that it found nothing, so that a busy caller does not cost one for each of
 * its calls. Keys that were found are remembered beyond that, for `remembers`; unknown ones never displace them.
 */
export function cached<Key, Found extends object>(
  find: (key: Key) => Promise<Found | undefined>,
  nameOf: (key: Key) => string,
): LookUps<Key, Found> {
  const known = new LRUCache<string, Found>({ max: ENTRIES_MAX, ttl: TTL_MS, noDeleteOnStaleGet: true });
  const unknown = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: TTL_MS });
  return {
    async find(key) {
      const name = nameOf(key);
      const cachedOne = known.get(name);
      if (cachedOne !== undefined || unknown.has(name)) return cachedOne;
      // From before the look-up: what it finds may be as old as that.
      const start = performance.now();
      const found = await find(key);
      if (found === undefined) {
        known.delete(name);
        unknown.set(name, true, { start });
      } else known.set(name, found, { start });
      return found;
    },
    remembers(key) {
      const name = nameOf(key);
      return unknown.has(name) || known.peek(name, { allowStale: true }) !== undefined;
    },
  };
}

/**
 * Records when a key is used, at most once a minute for each: its last use is known to the minute, and a busy key does not
 * cost a write for each call. No caller waits for the write; one that fails is retried with the key's next use.
 */
export function keyUseRecorder(write: (hash: Buffer) => Promise<void>, log: Log): (hash: Buffer) => void {
  const written = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: USE_RECORDED_EVERY_MS });
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
