import type { Pool } from 'pg';
import type { IngressConfig } from '../../shared/config/config.ts';
import { batcher } from '../../shared/db/batcher.ts';
import { type Admission, admit } from '../../shared/db/stores/work/admit.ts';
import { readSnapshot } from '../../shared/db/stores/work/snapshot.ts';
import type { Log } from '../../shared/log.ts';
import type { TicketQueue } from '../../shared/queue/queues.ts';
import { admissionTerms } from '../../shared/work/admission.ts';
import { createDispatch } from '../../shared/work/dispatch.ts';
import { type Kind, type Kinds, kindsOf } from '../../shared/work/kind.ts';
import type { WakeUps } from '../../shared/work/wake-ups.ts';
import { LoadMonitor } from './load-monitor.ts';

const ADMITTED_TOGETHER = 100;
/** Bytes of requests in one admission, so that one app's large bodies do not delay the others' small ones. */
const BYTES_TOGETHER = 256 * 1024;

export interface KindParts {
  config: IngressConfig;
  pool: Pool;
  kinds: Kinds;
  /** This process, by its heartbeat. */
  process: string;
  tickets: TicketQueue;
  wakeUps: WakeUps;
  /** Whether callers wait at this ingress. */
  isBusy(): boolean;
  /** Whether several do. */
  isCrowded(): boolean;
  log: Log;
}

/** An ingress's side of one kind of work: how it is admitted and queued, and when its load is shed. */
export function serveKind(
  kind: Kind,
  { config, pool, kinds, process, tickets, wakeUps, isBusy, isCrowded, log }: KindParts,
) {
  const timeoutMs = config[kind.deadline];
  const names = kindsOf(kinds, kind.pool);
  const { recoveryWindowS } = config;
  const load = new LoadMonitor(() => readSnapshot(pool, kind), isBusy, { deadlineMs: timeoutMs, log });
  const terms = admissionTerms(kind, kinds, { process, timeoutMs, recoveryWindowS, units: config });
  return {
    kind,
    /** All kinds of its pool. */
    names,
    timeoutMs,
    dispatch: createDispatch({
      queue: tickets,
      wake: (parties) => wakeUps.admitted(kind.pool, parties),
      queuedMs: () => load.queuedMs,
    }),
    load,
    admit: batcher((batch: Admission[]) => admit(pool, batch, terms), {
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
