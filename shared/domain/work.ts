import { hash } from 'node:crypto';
import { AppError } from '../errors/app-error.ts';
import type { ErrorCode, ErrorSource } from '../errors/catalogue.ts';

/** The state of a piece of work, for a caller that waits or asks again. */
export interface Outcome<Facts = unknown, Report = unknown> {
  id: string;
  /** The app or account whose work it is. */
  party: string;
  /** `requestKey` of its request. */
  key: string;
  /** The month that its unit belongs to; null for work without a unit. */
  month: string | null;
  /** `queued`, `running`, or how it ended. Only `failed` runs again when the request is repeated. */
  state: string;
  code: ErrorCode | 'abandoned' | null;
  source: ErrorSource | null;
  attempt: number;
  units: 0 | 1;
  /** End of the recovery window in Unix seconds; null while it runs. */
  expiresAt: number | null;
  queueMs: number | null;
  /** The facts of its admission. */
  facts: Facts;
  /** The report of its handler; null when something else ended it. */
  report: Report | null;
  /** Time from the end of failed work for which a new try is pointless, where that is known. */
  retryAfterMs: number | null;
  /** Null when there is none or it was erased. */
  answer: string | null;
}

/**
 * The state of work that somebody waits for. `gone`: no table has it any more, because its account was erased or a failover
 * of the database lost it.
 */
export type Fate = Outcome | 'gone';

/** The end of work. `settle` charges its unit; otherwise it is refunded. */
export interface End<Report = unknown> {
  state: string;
  settle?: boolean;
  code?: ErrorCode | 'abandoned';
  source?: ErrorSource;
  answer?: string;
  report?: Report;
  /** Time for which a new try is pointless, where that is known. */
  retryAfterMs?: number | undefined;
}

/** The error that work ended with, for its caller. */
export function failureOf(
  code: ErrorCode,
  { source, retryAfterMs }: Pick<Outcome, 'source' | 'retryAfterMs'>,
): AppError {
  return new AppError(code, {
    ...(source !== null && { source }),
    ...(retryAfterMs !== null && { retryAfterS: retryAfterMs / 1000 }),
  });
}

/** Checks whether it will not change any more, unless the request is repeated. */
export function isEnded({ state }: Pick<Outcome, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}

/** The facts of work, with the `X-Request-Id` of the request that it was admitted for, and the span of its admission. */
export interface Traced {
  trace?: { requestId: string; traceparent?: string };
}

/** The key of a party's request of a kind: 16 bytes of SHA-256, as a UUID. Party ids contain no spaces. */
export function requestKey(kind: string, party: string, requestId: string): string {
  const hex = hash('sha256', `${kind} ${party} ${requestId}`, 'hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** Progress of a job, which its handler also keeps. */
export interface Steps {
  done: number;
  total: number;
}

const NOT_BEGUN: Steps = { done: 0, total: 0 };

/** The report of a job's handler: the answer to its request, and all its steps. */
export interface JobReport<Result extends object = object> {
  steps: Steps;
  result: Result;
}

/** The steps in what a handler has kept. */
export function stepsOf(progress: unknown): Steps {
  const isKept = typeof progress === 'object' && progress !== null && 'steps' in progress;
  return isKept ? (progress.steps as Steps) : NOT_BEGUN;
}
