import type { Pool } from 'pg';
import type { IngressConfig } from '../../shared/config/config.ts';
import { createBatcher } from '../../shared/db/batcher.ts';
import { type Admission, type AdmissionResult, admit } from '../../shared/db/stores/work/admit.ts';
import { batchSizes } from '../../shared/metrics/work.ts';
import type { Queues, TicketQueue } from '../../shared/queue/queues.ts';
import { Coalescer } from '../../shared/timing/coalesce.ts';
import { admissionTerms } from '../../shared/work/admission.ts';
import type { Kind } from '../../shared/work/kind.ts';
import type { WakeUps } from '../../shared/work/wake-ups.ts';
import type { LoadMonitor } from './load-monitor.ts';

const ADMISSIONS_PER_STATEMENT = 100;
/**
 * Maximum characters of the requests in one admission statement, unless a single request has more. A longer statement
 * would delay small requests of other apps and accounts.
 */
const CHARS_PER_STATEMENT = 256 * 1024;
/**
 * Milliseconds between two wake-ups. Under load, one claim then takes the work of several calls. The interval grows
 * with the time in the queue, because busy workers claim without a wake-up as soon as a slot is free.
 */
const WAKE_EVERY_MS = { min: 2, max: 20, shareOfQueueing: 0.1 };

export interface KindParts {
  config: IngressConfig;
  pool: Pool;
  process: string;
  queues: Queues;
  wakeUps: WakeUps;
  load: LoadMonitor;
  /** Returns true while callers wait for several pieces of work at this ingress. */
  isCrowded(): boolean;
}

export interface ServedKind {
  kind: Kind;
  timeoutMs: number;
  /**
   * Admits a request, in one statement with other requests of the same app or account. `gone` withdraws a request that
   * is not yet in a statement.
   */
  admit(admission: Admission, gone: AbortSignal): Promise<AdmissionResult>;
  dispatch: Dispatch;
}

export function serveKind(
  kind: Kind,
  { config, pool, process, queues, wakeUps, load, isCrowded }: KindParts,
): ServedKind {
  const timeoutMs = config[kind.deadline];
  const { recoveryWindowS } = config;
  const terms = admissionTerms(kind, { process, timeoutMs, recoveryWindowS, units: config });
  const admitTogether = (batch: Admission[]) => {
    batchSizes.observe({ statement: 'admit' }, batch.length);
    return admit(pool, batch, terms, load.maxQueued(kind.name));
  };
  return {
    kind,
    timeoutMs,
    dispatch: createDispatch({
      queue: queues.queue(kind.pool),
      wake: (parties) => wakeUps.announceAdmitted(parties.map((party) => ({ kind: kind.name, party }))),
      queuedMs: () => load.queuedMs(kind.name),
    }),
    admit: createBatcher(admitTogether, {
      maxItems: ADMISSIONS_PER_STATEMENT,
      maxBytes: CHARS_PER_STATEMENT,
      partyOf: ({ party }) => party,
      // A connection whose row is locked delays requests on the app's other connections by only one lock timeout.
      laneOf: ({ connectionId }) => connectionId,
      bytesOf: ({ input }) => input.length,
      keysOf: ({ key, line }) => (line === null ? [key] : [key, line.key]),
      isBusy: isCrowded,
    }),
  };
}

interface DispatchSteps {
  queue: TicketQueue;
  wake(parties: readonly string[]): void;
  queuedMs(): number;
}

/**
 * Notifies a pool's workers of admitted work, by a wake-up and a ticket. Does not wait, and never throws. If both are
 * lost, the workers find the work at their next poll.
 */
type Dispatch = (id: string, party: string) => void;

export function createDispatch({ queue, wake, queuedMs }: DispatchSteps): Dispatch {
  const { min, max, shareOfQueueing } = WAKE_EVERY_MS;
  const parties = new Set<string>();
  const wakeAll = async () => {
    const all = [...parties];
    parties.clear();
    wake(all);
  };
  const wakes = new Coalescer(wakeAll, () => Math.min(Math.max(min, shareOfQueueing * queuedMs()), max));
  return (id, party) => {
    parties.add(party);
    void wakes.run();
    queue.add([id]);
  };
}
