import type { IncomingHttpHeaders } from 'node:http';
import type { Box } from '../../shared/box.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { JobReceipt } from '../../shared/schemas/jobs.ts';
import { NAME_MAX } from '../../shared/schemas/limits.ts';
import type { ReserveAnswerMemory } from '../guards/budgets.ts';
import type { Answer } from '../http/endpoint.ts';
import { accepts, prefers } from '../request/headers.ts';
import { callOf, type JobKind, type JobService } from './service.ts';

export const EVENT_STREAM = 'text/event-stream';

/** Makes nginx pass each event on at once, in its default configuration. */
export const UNBUFFERED = { 'X-Accel-Buffering': 'no' };

export interface JobServices {
  jobs: JobService;
  publicUrl: string;
}

interface JobInput {
  user: { id: string };
  body: Box<object>;
  /** Facts of the work that are not in its body. */
  facts?: object;
  headers: IncomingHttpHeaders;
  signal: AbortSignal;
  reserve: ReserveAnswerMemory;
}

/**
 * Answers with the result, the job's address (`Prefer: respond-async`, RFC 7240), or a stream of the job's events
 * (`Accept: text/event-stream`).
 */
export async function answerJob<Reported extends object, Result extends object = Reported>(
  kind: JobKind<Reported>,
  { user, body, facts = {}, headers, signal, reserve }: JobInput,
  { jobs, publicUrl }: JobServices,
): Promise<Answer<Result | JobReceipt>> {
  const wait = prefers(headers, 'wait');
  const idempotencyKey = idempotencyKeyOf(headers);
  const call = callOf(kind, { accountId: user.id, body, facts, idempotencyKey, wait });
  const isAsync = prefers(headers, 'respond-async');
  if (!isAsync && !accepts(headers, EVENT_STREAM)) {
    const { result, replayed } = await jobs.perform<Reported, Result>(kind, call, signal, reserve);
    return { body: result, headers: replayedHeader(replayed) };
  }
  if (isAsync) {
    const { id, replayed } = await jobs.start(kind, call, signal);
    return {
      status: 202,
      body: receiptOf(id, publicUrl),
      headers: { ...replayedHeader(replayed), 'Preference-Applied': 'respond-async' },
    };
  }
  const begin = () => jobs.start(kind, call, signal);
  return answerEvents(call.party, begin, { headers: {}, signal, reserve }, { jobs, publicUrl });
}

/** Answers with the events of a job. `Last-Event-ID` leaves out the results that an earlier stream has sent. */
export function followJob(
  {
    user,
    jobId,
    ...call
  }: Omit<JobInput, 'body' | 'facts' | 'user'> & { user: UserPrincipal; jobId: string },
  services: JobServices,
): Promise<Answer<never>> {
  const find = async () => {
    await services.jobs.requireJob(user, jobId);
    return { id: jobId, replayed: false };
  };
  return answerEvents(user.id, find, call, services);
}

async function answerEvents(
  accountId: string,
  begin: () => Promise<{ id: string; replayed: boolean }>,
  { headers, signal, reserve }: Pick<JobInput, 'headers' | 'signal' | 'reserve'>,
  { jobs, publicUrl }: JobServices,
): Promise<Answer<never>> {
  const { release } = await jobs.openStream(accountId);
  // Releases the permit even if the stream is never read: such a stream does not close by itself.
  signal.addEventListener('abort', release);
  try {
    const { id, replayed } = await begin();
    const streamed = { receipt: receiptOf(id, publicUrl), lastEventId: lastEventIdOf(headers) };
    const body = jobs.stream(accountId, streamed, { gone: signal, reserve }).once('close', release);
    return { body, type: EVENT_STREAM, headers: { ...replayedHeader(replayed), ...UNBUFFERED } };
  } catch (error) {
    release();
    throw error;
  }
}

function receiptOf(id: string, publicUrl: string): JobReceipt {
  return { job_id: id, status_url: `${publicUrl}/api/jobs/${id}/` };
}

function lastEventIdOf({ 'last-event-id': id }: IncomingHttpHeaders): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

/** `replayed` is true if another call started the work. */
export function replayedHeader(replayed: boolean): Record<string, string> {
  return replayed ? { 'Idempotency-Replayed': 'true' } : {};
}

/** Throws `invalid_request` for a key that is too long, because a validation error cannot point to a header. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || key === '') return undefined;
  if (key.length > NAME_MAX) throw new AppError('invalid_request');
  return String(key);
}
