import { setTimeout as sleep } from 'node:timers/promises';
import { batcher } from '../db/batcher.ts';
import type { TicketQueue } from '../queue/queues.ts';
import { rejectionOf } from '../rejection.ts';
import { retry } from '../retry.ts';

/** How long a producer tries before it reports that the queue is unreachable. */
const PATIENCE_MS = 2000;
const BACKOFF = { firstMs: 50, longestMs: 800 };
/** Ids in one ticket; only people who look at the queue read them. */
const IDS_MAX = 200;
/**
 * How soon another wake-up may follow: under load, one claim takes what several calls have queued. Longer when work waits
 * anyway: every slot that becomes free claims without one.
 */
const WAKE_EVERY_MS = { least: 2, most: 20, ofQueueing: 0.1 };
/** How soon another ticket may follow. Where a wake-up is lost, work waits for that long. */
const TICKET_EVERY_MS = 200;

interface DispatchSteps {
  queue: TicketQueue;
  /** Reaches the workers that are up, at once: these parties have queued something. */
  wake(parties: readonly string[]): void;
  /** Milliseconds for which work of this pool was queued lately. */
  queuedMs(): number;
}

/** Notifies the workers of a piece of work of a party, once it is admitted. */
type Dispatch = (id: string, party: string) => Promise<void>;

/**
 * Notifies a pool's workers of a party's new work: a wake-up is fast, a ticket makes sure. Ids that arrive until the next
 * ticket may be added share it. Retries with backoff, and rejects when the queue stays unreachable for two seconds.
 */
export function createDispatch({ queue, wake, queuedMs }: DispatchSteps): Dispatch {
  const { least, most, ofQueueing } = WAKE_EVERY_MS;
  const wakeSoon = atMostEvery(() => Math.min(Math.max(least, ofQueueing * queuedMs()), most), wake);
  let addedAt = Number.NEGATIVE_INFINITY;
  const queued = batcher(
    async (ids: string[]) => {
      const restMs = addedAt + TICKET_EVERY_MS - performance.now();
      if (restMs > 0) await sleep(restMs, undefined, { ref: false });
      addedAt = performance.now();
      // An outage affects the whole batch; do not retry items one by one.
      const fault = await inTime(() => queue.add(ids.slice(0, IDS_MAX))).catch((error: unknown) => ({
        error,
      }));
      return ids.map(() => fault);
    },
    { most: Number.POSITIVE_INFINITY },
  );
  const add = async (id: string) => {
    const fault = await queued(id);
    if (fault) throw fault.error;
  };
  return (id, party) => {
    wakeSoon(party);
    // Each caller has its own two seconds, however long the ticket before took.
    return inTime((signal) => retry(() => add(id), { ...BACKOFF, signal }));
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

/** Limits the time from outside: a client that waits for its connection may never answer. */
async function inTime(work: (over: AbortSignal) => Promise<void>): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error('the queue took no ticket in time')), PATIENCE_MS);
  try {
    await Promise.race([work(over.signal), rejectionOf(over.signal)]);
  } finally {
    clearTimeout(timer);
  }
}
