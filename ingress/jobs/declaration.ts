import type { Faults } from '../../shared/domain/faults.ts';
import { parsePastTime } from '../../shared/domain/memory-rows.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { JobReceipt } from '../../shared/schemas/jobs.ts';

/** Errors with which any job may be refused, or may end. */
export const JOB_ERRORS = [
  'idempotency_conflict',
  'request_in_flight',
  'recovery_window_expired',
  'job_cancelled',
  'overloaded',
  'job_timeout',
] as const satisfies readonly ErrorCode[];

export const PROVIDER_ERRORS = [
  'provider_failed',
  'provider_not_configured',
  'provider_rate_limited',
] as const satisfies readonly ErrorCode[];

/** Errors with which any prediction may be refused, or may end. */
export const PREDICTION_ERRORS = [
  ...PROVIDER_ERRORS,
  'overloaded',
  'prediction_cancelled',
  'prediction_timeout',
] as const satisfies readonly ErrorCode[];

export const RESPONSE_MODES = `Waits for the end. \`Prefer: respond-async\`: 202 at once, with where to ask. \`Accept: text/event-stream\`:
a \`job\` event with the job's id, \`progress\` events, then \`done\` with the answer, or \`error\`. The job runs on when its caller leaves.`;

/** Shared declaration of the endpoints that start jobs. */
export const job = {
  boxesBody: true,
  requestHeaders: ['Idempotency-Key', 'Prefer', 'Accept'],
  otherStatus: 202,
  otherResponse: JobReceipt,
  streams: 'done',
  responseHeaders: ['Idempotency-Replayed', 'Preference-Applied'],
} as const;

/** Converts `since` to UTC, so that a repeat with the same idempotency key may write the time in another zone. */
export function withSince<Body extends { since?: string | undefined }>(
  { since, ...body }: Body,
  faults: Faults,
): Omit<Body, 'since'> & { since?: string } {
  if (since === undefined) return body;
  return {
    ...body,
    since: parsePastTime(since, Date.now(), faults.forPart('since')).toISOString(),
  };
}
