import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { JobReceipt } from '../../shared/schemas/jobs.ts';

/** How any job may be refused, or end. */
export const JOB_ERRORS = [
  'idempotency_conflict',
  'request_in_flight',
  'recovery_window_expired',
  'job_cancelled',
  'overloaded',
  'job_timeout',
] as const satisfies readonly ErrorCode[];

export const WAYS = `Waits for the end. \`Prefer: respond-async\`: 202 at once, with where to ask. \`Accept: text/event-stream\`:
\`progress\` events, then \`done\` with the answer, or \`error\`. The job runs on when its caller leaves.`;

/** What the endpoints of all jobs have in common, but their errors. */
export const job = {
  requestHeaders: ['Idempotency-Key', 'Prefer', 'Accept'],
  status: 200,
  otherStatus: 202,
  otherResponse: JobReceipt,
  streams: true,
  responseHeaders: ['Idempotency-Replayed'],
} as const;
