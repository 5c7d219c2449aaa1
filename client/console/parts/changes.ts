import type { AccountClient, ChangesResponse } from '../../src/api.ts';

export type Change = ChangesResponse['changed'][number];
type Listener = (changed: readonly Change[]) => void;

/** Name of the channel between tabs, and of the lock of the tab that follows the changes for all. */
const NAME = 'forecue.changes';
const PAUSE_MS = { first: 1000, longest: 60_000 };
/** Age from which a stream was no failure. A tab that waits as long for the lock has followed another tab. */
const SETTLED_MS = 10_000;

const listeners = new Set<Listener>();
const arrivalListeners = new Set<Listener>();
/** Changes that arrived while this tab was hidden. */
const unseen = new Set<Change>();

/** Also called by a part of the page that has changed something itself. */
export function tell(changed: readonly Change[]): void {
  for (const one of changed) unseen.add(one);
  if (document.visibilityState === 'hidden' || unseen.size === 0) return;
  const told = [...unseen];
  unseen.clear();
  for (const listen of listeners) listen(told);
}

document.addEventListener('visibilitychange', () => tell([]));

/** Calls the function when one of these has changed, as soon as this tab is visible. */
export function onChange(of: readonly Change[], act: () => void): () => void {
  const listen: Listener = (changed) => changed.some((one) => of.includes(one)) && act();
  listeners.add(listen);
  return () => listeners.delete(listen);
}

/** Calls the function when this has changed, at once, but only in the tab that follows the changes for all. */
export function onArrival(of: Change, act: () => void): () => void {
  const listen: Listener = (changed) => changed.includes(of) && act();
  arrivalListeners.add(listen);
  return () => arrivalListeners.delete(listen);
}

/**
 * Follows the changes of the account until the returned function is called. One tab of a browser holds the stream for
 * all, because HTTP/1.1 gives a browser six connections to a server.
 */
export function followChanges(client: Pick<AccountClient, 'changes'>): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }: MessageEvent<Change[]>) => tell(data);
  const startedAt = Date.now();
  const follow = async () => {
    // The page has just loaded what it shows, unless it has waited for the lock.
    let isNew = Date.now() - startedAt < SETTLED_MS;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const openedAt = Date.now();
      try {
        for await (const changed of client.changes({ signal, retries: 0 })) {
          if (!isNew) {
            tell(changed);
            channel.postMessage(changed);
            for (const listen of arrivalListeners) listen(changed);
          }
          isNew = false;
        }
      } catch {
        // Reports nothing: the page's own requests show that the server is unreachable.
      }
      if (Date.now() - openedAt > SETTLED_MS) failures = 0;
      await pause(Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** failures), signal);
    }
  };
  // Pages of plain HTTP have no locks: there each tab has a stream.
  const following = navigator.locks?.request(NAME, { signal }, follow) ?? follow();
  following.catch(() => {});
  return () => {
    stop.abort();
    channel.close();
  };
}

/** Ends early when the server may be back. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
