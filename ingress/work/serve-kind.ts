import type { Pool } from 'pg';
import type { IngressConfig } from '../../shared/config/config.ts';
import { batcher } from '../../shared/db/batcher.ts';
import { type Admission, admit } from '../../shared/db/stores/work/admit.ts';
import type { TicketQueue } from '../../shared/queue/queues.ts';
import { admissionTerms } from '../../shared/work/admission.ts';
import { createDispatch } from '../../shared/work/dispatch.ts';
import type { Kind } from '../../shared/work/kind.ts';
import type { WakeUps } from '../../shared/work/wake-ups.ts';
import type { LoadMonitor } from './load-monitor.ts';

const ADMITTED_TOGETHER = 100;
/** Bytes of requests in one admission, so that one app's large bodies do not delay the others' small ones. */
const BYTES_TOGETHER = 256 * 1024;

export interface KindParts {
  config: IngressConfig;
  pool: Pool;
  /** This process, by its heartbeat. */
  process: string;
  tickets: TicketQueue;
  wakeUps: WakeUps;
  load: LoadMonitor;
  /** Returns true while several callers wait at this ingress. */
  isCrowded(): boolean;
}

/** An ingress's side of one kind of work: how it is admitted and queued. */
export function serveKind(
  kind: Kind,
  { config, pool, process, tickets, wakeUps, load, isCrowded }: KindParts,
) {
  const timeoutMs = config[kind.deadline];
  const { recoveryWindowS } = config;
  const terms = admissionTerms(kind, { process, timeoutMs, recoveryWindowS, units: config });
  return {
    kind,
    timeoutMs,
    dispatch: createDispatch({
      queue: tickets,
      wake: (parties) => wakeUps.admitted(parties.map((party) => ({ kind: kind.name, party }))),
      queuedMs: () => load.queuedMs(kind.name),
    }),
    admit: batcher((batch: Admission[]) => admit(pool, batch, terms, load.mostQueued(kind.name)), {
      most: ADMITTED_TOGETHER,
      maxBytes: BYTES_TOGETHER,
      partyOf: ({ party }) => party,
      // A locked connection delays the app's others by one lock time-out, then only its own requests.
      laneOf: ({ connectionId }) => connectionId,
      bytesOf: ({ input }) => input.length,
      keysOf: ({ key, line }) => (line === null ? [key] : [key, line.key]),
      isBusy: isCrowded,
    }),
  };
}
