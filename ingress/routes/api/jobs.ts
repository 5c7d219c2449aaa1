import { Faults } from '../../../shared/domain/faults.ts';
import { JobResponse } from '../../../shared/schemas/jobs.ts';
import { SyncRequest, SyncResult } from '../../../shared/schemas/memory-jobs.ts';
import { sync } from '../../../shared/work/kinds.ts';
import { endpoint } from '../../http/endpoint.ts';
import { answerJob, type JobRoutes } from '../../jobs/answer.ts';
import { JOB_ERRORS, job, WAYS } from '../../jobs/declaration.ts';
import { withSince } from '../../jobs/since.ts';

export const syncMemory = endpoint('user', {
  ...job,
  errors: JOB_ERRORS,
  operationId: 'syncMemory',
  tag: 'Memory',
  summary: 'Take recorded events into memory',
  description: `Each event becomes one raw row at most, ever. ${WAYS}`,
  body: SyncRequest,
  response: SyncResult,
}).handle((input, parts: JobRoutes) => {
  const faults = new Faults();
  const body = withSince(input.body, faults);
  faults.refuse();
  return answerJob(sync, { ...input, body }, parts);
});

export const readJob = endpoint('user', {
  operationId: 'readJob',
  tag: 'Jobs',
  summary: 'How a job is coming on, or how it ended',
  description: 'For 24 hours after its end.',
  params: { job_id: 'uuid' },
  errors: ['not_found', 'overloaded'],
  status: 200,
  response: JobResponse,
}).handle(async ({ user, params, reserve }, { jobs }: JobRoutes) => ({
  body: await jobs.read(user.id, params.job_id, reserve),
}));

export const cancelJob = endpoint('user', {
  operationId: 'cancelJob',
  tag: 'Jobs',
  summary: 'Cancel a job',
  description: 'What it has stored stays. One that has ended stays as it is.',
  params: { job_id: 'uuid' },
  errors: ['not_found', 'overloaded'],
  status: 200,
  response: JobResponse,
}).handle(async ({ user, params, reserve }, { jobs }: JobRoutes) => ({
  body: await jobs.cancel(user.id, params.job_id, reserve),
}));
