import type { Log } from '../../shared/log.ts';

const EVERY_MS = 60_000;
const MOST = 10_000;

/**
 * Writes down when a key is used, at most once a minute for each: a key's last use is known to the minute, and a busy one
 * costs no write for each of its calls. Nobody waits for the write; one that fails is tried with the key's next use.
 */
export function noteKeyUse(write: (hash: Buffer) => Promise<void>, log: Log): (hash: Buffer) => void {
  let written = new Map<string, number>();
  return (hash) => {
    const name = hash.toString('base64');
    const now = performance.now();
    if (now < (written.get(name) ?? Number.NEGATIVE_INFINITY) + EVERY_MS) return;
    if (written.size >= MOST) written = new Map();
    written.set(name, now);
    write(hash).catch((error: unknown) => {
      written.delete(name);
      log.warn({ err: error }, "a key's use was not written down");
    });
  };
}
