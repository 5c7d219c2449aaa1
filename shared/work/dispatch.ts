import type { TicketQueue } from '../queue/queues.ts';

/**
 * How soon another wake-up may follow: under load, one claim takes what several calls have queued. Longer when work waits
 * anyway: every slot that becomes free claims without one.
 */
const WAKE_EVERY_MS = { least: 2, most: 20, ofQueueing: 0.1 };

interface DispatchSteps {
  queue: TicketQueue;
  /** Reaches the workers that are up, at once: these parties have queued something. */
  wake(parties: readonly string[]): void;
  /** Milliseconds for which work of this pool was queued lately. */
  queuedMs(): number;
}

/**
 * Notifies a pool's workers of a piece of work of a party, once it is admitted, by a wake-up and a ticket. Neither waits nor
 * fails: should both be lost, the workers find the work when they look.
 */
type Dispatch = (id: string, party: string) => void;

export function createDispatch({ queue, wake, queuedMs }: DispatchSteps): Dispatch {
  const { least, most, ofQueueing } = WAKE_EVERY_MS;
  const wakeSoon = atMostEvery(() => Math.min(Math.max(least, ofQueueing * queuedMs()), most), wake);
  return (id, party) => {
    wakeSoon(party);
    queue.add([id]);
  };
}

/** Calls at once, or as soon as that much time has passed since the call before, with all names given until then. */
function atMostEvery(ms: () => number, call: (names: readonly string[]) => void): (name: string) => void {
  let calledAt = Number.NEGATIVE_INFINITY;
  const names = new Set<string>();
  const callNow = () => {
    const all = [...names];
    names.clear();
    calledAt = performance.now();
    call(all);
  };
  const callWhenDue = () => {
    const restMs = calledAt + ms() - performance.now();
    // A timer counts whole milliseconds, and may fire one early.
    if (restMs <= 0) callNow();
    else setTimeout(callWhenDue, Math.ceil(restMs));
  };
  return (name) => {
    const isAwaited = names.size > 0;
    names.add(name);
    if (!isAwaited) callWhenDue();
  };
}
