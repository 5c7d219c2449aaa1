import { Faults } from '../../../shared/domain/faults.ts';
import {
  JobResponse,
  PROMOTE_LIMIT_DEFAULT,
  PromoteRequest,
  PromoteResult,
  SyncRequest,
  SyncResult,
} from '../../../shared/schemas/jobs.ts';
import { promoteEpisodes, promoteFacts, sync } from '../../../shared/work/kinds.ts';
import { endpoint } from '../../http/endpoint.ts';
import { answerJob, EVENT_STREAM, followJob } from '../../jobs/answer.ts';
import { JOB_ERRORS, job, PROVIDER_ERRORS, RESPONSE_MODES, withSince } from '../../jobs/declaration.ts';
import { checkModel } from '../../replies/service.ts';
import { accepts } from '../../request/headers.ts';
import type { Parts } from '../parts.ts';

export const syncMemory = endpoint('user', {
  ...job,
  errors: JOB_ERRORS,
  operationId: 'syncMemory',
  tag: 'Memory',
  summary: 'Take recorded events into memory',
  description: `Each event becomes one raw row at most, ever. ${RESPONSE_MODES}`,
  body: SyncRequest,
  response: SyncResult,
}).handle((input, parts: Parts) => answerJob(sync, { ...input, body: input.body.map(checkSync) }, parts));

function checkSync(body: SyncRequest): SyncRequest {
  const faults = new Faults(body);
  const request = withSince(body, faults);
  faults.throwIfAny();
  return request;
}

const promotion = {
  ...job,
  tag: 'Memory',
  body: PromoteRequest,
  response: PromoteResult,
  errors: ['quota_exceeded', ...JOB_ERRORS, ...PROVIDER_ERRORS],
} as const;

export const promoteToEpisodes = endpoint('user', {
  ...promotion,
  operationId: 'promoteEpisodes',
  summary: 'Summarise raw rows in episodes',
  description: `Raw rows that belong together become one episode, once. ${RESPONSE_MODES}`,
}).handle((input, parts: Parts) => {
  const body = input.body.map((request) => checkPromotion(request, parts));
  return answerJob(promoteEpisodes, { ...input, body }, parts);
});

export const promoteToFacts = endpoint('user', {
  ...promotion,
  operationId: 'promoteFacts',
  summary: 'Distil facts from episodes',
  description: `What a person said in an episode becomes facts, once. ${RESPONSE_MODES}`,
}).handle((input, parts: Parts) => {
  const body = input.body.map((request) => checkPromotion(request, parts));
  return answerJob(promoteFacts, { ...input, body }, parts);
});

function checkPromotion(body: PromoteRequest, { supportedModels }: Parts): PromoteRequest {
  const faults = new Faults(body);
  checkModel(body.model, supportedModels, faults);
  // Adds the defaults, so that a repeat with the same idempotency key may state or omit them.
  const request = withSince({ limit: PROMOTE_LIMIT_DEFAULT, force: false, ...body }, faults);
  faults.throwIfAny();
  return request;
}

export const readJob = endpoint('user', {
  operationId: 'readJob',
  // A key that may start a job may also follow it.
  scopes: ['read', 'predict', 'write'],
  tag: 'Jobs',
  summary: 'The progress of a job, or how it ended',
  description: `For 24 hours after its end. \`Accept: text/event-stream\`: the stream that the job's request would have been
answered with; \`Last-Event-ID\` leaves out the \`result\` events up to that one.`,
  params: { job_id: 'uuid' },
  requestHeaders: ['Accept', 'Last-Event-ID'],
  streams: 'done',
  errors: ['overloaded'],
  response: JobResponse,
}).handle(async ({ user, params, reserve, headers, signal }, parts: Parts) => {
  if (accepts(headers, EVENT_STREAM))
    return followJob({ user, jobId: params.job_id, headers, signal, reserve }, parts);
  return { body: await parts.jobs.read(user, params.job_id, reserve) };
});

export const cancelJob = endpoint('user', {
  operationId: 'cancelJob',
  scopes: ['predict', 'write'],
  tag: 'Jobs',
  summary: 'Cancel a job',
  description: 'What the job has stored is kept. A job that has ended stays as it is.',
  params: { job_id: 'uuid' },
  errors: ['overloaded'],
  response: JobResponse,
}).handle(async ({ user, params, reserve }, { jobs }: Parts) => ({
  body: await jobs.cancel(user, params.job_id, reserve),
}));
