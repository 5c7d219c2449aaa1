import { Faults } from '../../../shared/domain/faults.ts';
import { past } from '../../../shared/domain/memory-rows.ts';
import type { ErrorCode } from '../../../shared/errors/catalogue.ts';
import { JobReceipt, JobResponse } from '../../../shared/schemas/jobs.ts';
import { SyncRequest, SyncResult } from '../../../shared/schemas/memory-jobs.ts';
import { sync } from '../../../shared/work/kinds.ts';
import { endpoint } from '../../http/endpoint.ts';
import { answerJob, type JobRoutes } from '../../jobs/answer.ts';

/** How any job may be refused, or end. */
const ERRORS = [
  'idempotency_conflict',
  'request_in_flight',
  'recovery_window_expired',
  'job_cancelled',
  'overloaded',
  'job_timeout',
] as const satisfies readonly ErrorCode[];

const WAYS = `Waits for the end. \`Prefer: respond-async\`: 202 at once, with where to ask. \`Accept: text/event-stream\`:
\`progress\` events, then \`done\` with the answer, or \`error\`. The job runs on when its caller leaves.`;

/** What the endpoints of all jobs have in common. */
const job = {
  requestHeaders: ['Idempotency-Key', 'Prefer', 'Accept'],
  errors: ERRORS,
  status: 200,
  otherStatus: 202,
  otherResponse: JobReceipt,
  streams: true,
  responseHeaders: ['Idempotency-Replayed'],
} as const;

export const syncMemory = endpoint('user', {
  ...job,
  operationId: 'syncMemory',
  tag: 'Memory',
  summary: 'Take recorded events into memory',
  description: `Each event becomes one raw row at most, ever. ${WAYS}`,
  body: SyncRequest,
  response: SyncResult,
}).handle((input, parts: JobRoutes) => {
  const { since, ...body } = input.body;
  const faults = new Faults();
  const from = since && past(since, Date.now(), faults.in('since')).toISOString();
  faults.refuse();
  return answerJob(sync, { ...input, body: { ...body, ...(from && { since: from }) } }, parts);
});

export const readJob = endpoint('user', {
  operationId: 'readJob',
  tag: 'Jobs',
  summary: 'How a job is coming on, or how it ended',
  description: 'For 24 hours after its end.',
  params: { job_id: 'uuid' },
  errors: ['not_found'],
  status: 200,
  response: JobResponse,
}).handle(async ({ user, params }, { jobs }: JobRoutes) => ({
  body: await jobs.read(user.id, params.job_id),
}));

export const cancelJob = endpoint('user', {
  operationId: 'cancelJob',
  tag: 'Jobs',
  summary: 'Cancel a job',
  description: 'What it has stored stays. One that has ended stays as it is.',
  params: { job_id: 'uuid' },
  errors: ['not_found'],
  status: 200,
  response: JobResponse,
}).handle(async ({ user, params }, { jobs }: JobRoutes) => ({
  body: await jobs.cancel(user.id, params.job_id),
}));
