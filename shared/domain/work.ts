import { hash } from 'node:crypto';
import { AppError } from '../errors/app-error.ts';
import type { ErrorCode, ErrorSource } from '../errors/catalogue.ts';

/** The state of a piece of work, for a caller that waits or repeats the request. */
export interface Outcome<Facts = unknown, Report = unknown> {
  id: string;
  /** Id of the app or account to which the work belongs. */
  party: string;
  /** The `requestKey` of the request. */
  key: string;
  /** Month in which the unit counts; null for work without a unit. */
  month: string | null;
  /** `queued`, `running`, or how the work ended. Only `failed` work runs again when the request is repeated. */
  state: string;
  code: ErrorCode | 'abandoned' | null;
  source: ErrorSource | null;
  attempt: number;
  units: 0 | 1;
  /** End of the recovery window in Unix seconds; null while the work runs. */
  expiresAt: number | null;
  queueMs: number | null;
  /** Facts fixed at the admission. */
  facts: Facts;
  /** Report of the handler; null if something else ended the work. */
  report: Report | null;
  /** Time after the failure during which a retry is pointless, in milliseconds; null if unknown. */
  retryAfterMs: number | null;
  /** Text of the answer; null if there is no answer, or it was erased. */
  answer: string | null;
}

/**
 * State of work that a caller waits for. `gone` means that no table has the work any more: its account was erased, or a
 * failover of the database lost it.
 */
export type Fate = Outcome | 'gone';

/** End of a piece of work. With `settle` its unit is charged; otherwise the unit is refunded. */
export interface End<Report = unknown> {
  state: string;
  settle?: boolean;
  code?: ErrorCode | 'abandoned';
  source?: ErrorSource;
  answer?: string;
  report?: Report;
  /** Time after this end during which a retry is pointless, in milliseconds, if known. */
  retryAfterMs?: number | undefined;
}

/** Returns the error for the caller of work that ended with a code. */
export function failureOf(
  code: ErrorCode,
  { source, retryAfterMs }: Pick<Outcome, 'source' | 'retryAfterMs'>,
): AppError {
  return new AppError(code, {
    ...(source !== null && { source }),
    ...(retryAfterMs !== null && { retryAfterS: retryAfterMs / 1000 }),
  });
}

/** Reports whether work has ended. After that, only a repeated request can change the state. */
export function isEnded({ state }: Pick<Outcome, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}

/**
 * Facts that connect work with the request that started it: the request's `X-Request-Id`, and the span of the
 * admission.
 */
export interface TraceFacts {
  trace?: { requestId: string; traceparent?: string };
}

/** Returns the key of a party's request of a kind: 16 bytes of SHA-256, as a UUID. Party ids contain no spaces. */
export function requestKey(kind: string, party: string, requestId: string): string {
  const hex = hash('sha256', `${kind} ${party} ${requestId}`, 'hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** Progress of a job, as stored by its handler: the number of finished steps, and of all steps. */
export interface Steps {
  done: number;
  total: number;
}

const NOT_BEGUN: Steps = { done: 0, total: 0 };

/** Report of a job's handler: all its steps, and the answer to its request. */
export interface JobReport<Result extends object = object> {
  steps: Steps;
  result: Result;
}

/** Returns the steps in the progress that a handler has stored. */
export function stepsOf(progress: unknown): Steps {
  const isKept = typeof progress === 'object' && progress !== null && 'steps' in progress;
  return isKept ? (progress.steps as Steps) : NOT_BEGUN;
}
