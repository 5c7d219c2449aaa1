import { hash } from 'node:crypto';
import { AppError } from '../errors/app-error.ts';
import type { ErrorCode, ErrorSource } from '../errors/catalogue.ts';

/** The state of work, for a caller that waits or repeats the request. */
export interface Outcome<Facts = unknown, Report = unknown> {
  id: string;
  /** Id of the app or account to which the work belongs. */
  party: string;
  /** The `requestKey` of the request. */
  key: string;
  /** Month to which the unit is charged; null for work that costs no unit. */
  month: string | null;
  /** `queued`, `running`, or how the work ended. Only `failed` work runs again when the request is repeated. */
  state: string;
  code: ErrorCode | 'abandoned' | null;
  source: ErrorSource | null;
  attempt: number;
  units: 0 | 1;
  /**
   * End of the recovery window, in which a repeated request gets the same answer. In Unix seconds; null until the work
   * ends.
   */
  expiresAt: number | null;
  queueMs: number | null;
  facts: Facts;
  /** Report of the handler; null if something else ended the work. */
  report: Report | null;
  /** Milliseconds to wait after the failure before a retry; null if unknown. */
  retryAfterMs: number | null;
  /** Text of the answer; null if there is no answer, or it was erased. */
  answer: string | null;
}

/** `gone`: the work no longer exists, because its account was erased or a database failover lost it. */
export type Fate = Outcome | 'gone';

/**
 * How work ended. With `settle`, its unit is charged; otherwise the unit is refunded. A handler that has left the work
 * to its parts returns the state `running`.
 */
export interface End<Report = unknown> {
  state: string;
  settle?: boolean;
  code?: ErrorCode | 'abandoned';
  source?: ErrorSource;
  answer?: string;
  /** Memory of the account that the answer was made from: if some of it has been deleted, the answer is not kept. */
  madeFrom?: object;
  report?: Report;
  retryAfterMs?: number | undefined;
}

export function failureOf(
  code: ErrorCode,
  { source, retryAfterMs }: Pick<Outcome, 'source' | 'retryAfterMs'>,
): AppError {
  return new AppError(code, {
    ...(source !== null && { source }),
    ...(retryAfterMs !== null && { retryAfterS: retryAfterMs / 1000 }),
  });
}

export function isEnded({ state }: Pick<Outcome, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}

/** Identifies the request that started the work: its `X-Request-Id`, and the trace span of its admission. */
export interface TraceFacts {
  trace?: { requestId: string; traceparent?: string };
}

/**
 * Returns the key of a request: a UUID of version 8 (RFC 9562, section 5.8) with bits of a SHA-256. `party`, the id of
 * the app or account, has no spaces.
 */
export function requestKey(kind: string, party: string, requestId: string): string {
  const hex = hash('sha256', `${kind} ${party} ${requestId}`, 'hex');
  return hex.replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5');
}

/** Progress of a job, as stored by its handler. */
export interface Steps {
  done: number;
  total: number;
}

const NOT_BEGUN: Steps = { done: 0, total: 0 };

/** Report of a finished job. `result` is the answer to the request. */
export interface JobReport<Result extends object = object> {
  steps: Steps;
  result: Result;
}

export function stepsOf(progress: unknown): Steps {
  const hasSteps = typeof progress === 'object' && progress !== null && 'steps' in progress;
  return hasSteps ? (progress.steps as Steps) : NOT_BEGUN;
}
