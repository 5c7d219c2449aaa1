/** What is revoked must stop working within two seconds; half of that is for the way. */
const REMEMBERED_MS = 1000;
const MOST = 10_000;

/** Remembers for a second whom a look-up found, so that a busy caller costs no look-up for each of its calls. */
export function remember<Key, Found>(
  find: (key: Key) => Promise<Found | undefined>,
  nameOf: (key: Key) => string,
): (key: Key) => Promise<Found | undefined> {
  let known = new Map<string, { found: Found; until: number }>();
  return async (key) => {
    const name = nameOf(key);
    const remembered = known.get(name);
    if (remembered !== undefined && remembered.until > performance.now()) return remembered.found;
    // From before the look-up: what it finds may be as old as that.
    const until = performance.now() + REMEMBERED_MS;
    const found = await find(key);
    if (known.size >= MOST) known = new Map();
    if (found === undefined) known.delete(name);
    else known.set(name, { found, until });
    return found;
  };
}
