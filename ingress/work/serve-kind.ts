import { setTimeout as sleep } from 'node:timers/promises';
import type { IngressConfig } from '../../shared/config/config.ts';
import { createBatcher } from '../../shared/db/batcher.ts';
import { HOT_PATH_LOCK_TIMEOUT_MS } from '../../shared/db/limits.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import type { Connections } from '../../shared/db/statement.ts';
import type { Admission, AdmissionResult } from '../../shared/db/stores/work/admit.ts';
import { batchSizes } from '../../shared/metrics/work.ts';
import { admissionTerms, admitWork } from '../../shared/work/admission.ts';
import type { AddJobs } from '../../shared/work/jobs.ts';
import type { Kind } from '../../shared/work/kind.ts';

const ADMISSIONS_PER_STATEMENT = 100;
/**
 * Maximum characters of the requests in one admission statement, unless a single request has more. A longer statement
 * would delay small requests of other apps and accounts.
 */
const CHARS_PER_STATEMENT = 256 * 1024;
/** Time until a request whose connection is locked asks for its admission again. */
const LOCKED_PAUSE_MS = 25;

export interface KindParts {
  config: IngressConfig;
  database: Connections;
  process: string;
  addJobs: AddJobs;
  heartbeat: Pick<Heartbeat, 'stalledMs' | 'recoveredMs'>;
  /** Returns true while callers wait for several pieces of work at this ingress. */
  isCrowded(): boolean;
}

export interface ServedKind {
  kind: Kind;
  timeoutMs: number;
  /**
   * Admits a request, in one statement with other requests of the same app or account, and adds their job to the queue.
   * `gone` withdraws a request that is not yet in a statement.
   */
  admit(admission: Admission, gone: AbortSignal): Promise<AdmissionResult>;
}

export function serveKind(
  kind: Kind,
  { config, database, process, addJobs, heartbeat, isCrowded }: KindParts,
): ServedKind {
  const timeoutMs = config[kind.deadline];
  const { recoveryWindowS, leaseMs, tokenQuotas } = config;
  const terms = admissionTerms(kind, { process, timeoutMs, recoveryWindowS, units: config, tokenQuotas });
  // During and shortly after a database outage, work seems to have waited long, and workers seem dead.
  const sheds = () => heartbeat.recoveredMs > leaseMs;
  const isSuspect = () => (heartbeat.stalledMs(kind.pool) ?? Number.POSITIVE_INFINITY) > timeoutMs / 2;
  const admitTogether = async (batch: Admission[]) => {
    batchSizes.observe({ statement: 'admit' }, batch.length);
    const shedding = sheds() ? { suspectPool: isSuspect() ? kind.pool : undefined } : undefined;
    const results = await admitWork(database, kind, batch, terms, shedding);
    // Attached work may still be queued as well, because workers do not claim work that no caller waits for.
    const isQueued = ({ decision }: AdmissionResult) => decision === 'admitted' || decision === 'attached';
    const [{ party } = { party: '' }] = batch;
    addJobs(results.filter(isQueued).map(({ id }) => ({ id, kind: kind.name, party })));
    return results;
  };
  const ask = createBatcher(admitTogether, {
    maxItems: ADMISSIONS_PER_STATEMENT,
    maxBytes: CHARS_PER_STATEMENT,
    partyOf: ({ party }) => party,
    bytesOf: ({ input }) => input.length,
    keysOf: ({ key, line }) => (line === null ? [key] : [key, line.key]),
    isBusy: isCrowded,
  });
  return {
    kind,
    timeoutMs,
    admit: (admission, gone) => whileLocked(() => ask(admission, gone)),
  };
}

/** Asks again while the request's connection is locked, for at most `HOT_PATH_LOCK_TIMEOUT_MS`. */
async function whileLocked(ask: () => Promise<AdmissionResult>): Promise<AdmissionResult> {
  const until = performance.now() + HOT_PATH_LOCK_TIMEOUT_MS;
  for (;;) {
    const result = await ask();
    if (result.decision !== 'service_unavailable' || performance.now() > until) return result;
    await sleep(LOCKED_PAUSE_MS);
  }
}
