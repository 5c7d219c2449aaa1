import { LRUCache } from 'lru-cache';

/** What is revoked must stop working within two seconds; half of that is for the way. */
const TTL_MS = 1000;
const ENTRIES_MAX = 10_000;

/** Look-ups, cached. */
export interface LookUps<Key, Found> {
  find(key: Key): Promise<Found | undefined>;
  /** Whether it was found lately, or is known for the moment not to exist: a caller that has nothing to guess. */
  remembers(key: Key): boolean;
}

/**
 * Caches for a second what a look-up found, and what it did not find, so that a busy caller does not cost one for each of
 * its calls. Those that were found are remembered beyond that, for `remembers`; unknown ones never displace them.
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
