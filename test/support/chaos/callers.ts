import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../bench/memory/random.ts';
import type { JobReceipt } from '../../../shared/schemas/jobs.ts';
import type { CancelResponse } from '../../../shared/schemas/predictions.ts';
import { predictionBody } from '../client.ts';
import { event } from '../recording.ts';
import { BATCH, batchBody, PREDICT, replyBody } from '../replies.ts';
import type { Calls, Party, Request } from './calls.ts';

const PAUSE_MS = 500;
const TRIES = 3;
const WAIT = { prefer: 'wait' };

export interface World {
  calls: Calls;
  random: Random;
  /** Addresses of the ingresses. */
  ingresses: readonly string[];
}

export interface Caller extends World {
  party: Party;
  /** Ids of the events that were recorded for the party. */
  recorded: Set<string>;
}

export type Scene = (caller: Caller) => Promise<unknown>;

export async function act(caller: Caller, scenes: readonly Scene[], over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await caller.random.pick(scenes)(caller);
    await pause(caller, PAUSE_MS);
  }
}

/** Sends the request, as clients do, until its outcome is known, a few times at most. */
export async function pursue(world: World, request: Request, tries = TRIES): Promise<void> {
  for (let n = 0; n < tries; n += 1) {
    await ask(world, request, WAIT);
    if (request.outcome !== undefined) return;
    await pause(world, PAUSE_MS);
  }
}

export function syncOf({ party }: Pick<Caller, 'party'>): Request {
  return jobOf(party, 'sync', '/api/memory/sync/', {});
}

function ask<Body>(world: World, request: Request, headers = {}, signal?: AbortSignal) {
  const at = world.random.pick(world.ingresses);
  return world.calls.ask<Body>(request, { at, headers, ...(signal && { signal }) });
}

function pause({ random }: World, mostMs: number): Promise<void> {
  return sleep(mostMs * random.next());
}

let marks = 0;

function newMark(): string {
  marks += 1;
  return `${marks}`;
}

function prediction(
  { calls, party }: Caller,
  part: { session_id?: string; revision?: number } = {},
): Request {
  const mark = newMark();
  const { revision = 1, ...rest } = part;
  const body = predictionBody({ draft: { text: `Please send report ${mark} to`, revision }, ...rest });
  return calls.add({ kind: 'prediction', party, path: '/v1/predictions', body, predictions: 1, mark });
}

const predict: Scene = (caller) => pursue(caller, prediction(caller));

async function supersede(caller: Caller): Promise<void> {
  const session_id = `s-${newMark()}`;
  const older = prediction(caller, { session_id });
  const asked = ask(caller, older);
  await pause(caller, 150);
  older.isOld = true;
  await pursue(caller, prediction(caller, { session_id, revision: 2 }));
  await asked;
}

async function cancel(caller: Caller): Promise<void> {
  const request = prediction(caller);
  const { request_id, user_id } = request.body as { request_id: string; user_id: string };
  const asked = ask(caller, request);
  await pause(caller, 200);
  const path = `/v1/predictions/${request_id}/cancel`;
  const at = caller.random.pick(caller.ingresses);
  const answer = await caller.calls.send<CancelResponse>(caller.party, 'POST', path, { user_id }, { at });
  if (answer?.status === 200) request.told = answer.body.status;
  await asked;
}

async function leaveOnce(caller: Caller, request: Request): Promise<void> {
  const cancels = caller.random.next() < 0.5;
  const leaving = AbortSignal.timeout(Math.ceil(250 * caller.random.next()));
  await ask(caller, request, cancels ? { 'x-on-disconnect': 'cancel' } : {}, leaving);
  await pause(caller, 1000);
  await pursue(caller, request);
}

const leave: Scene = (caller) => leaveOnce(caller, prediction(caller));

async function twins(caller: Caller): Promise<void> {
  const request = prediction(caller);
  await Promise.all([pursue(caller, request), pursue(caller, request)]);
}

async function repeat(caller: Caller): Promise<void> {
  const { calls, party, random } = caller;
  const known = calls.requests
    .slice(-2000)
    .filter((one) => one.party === party && one.kind === 'prediction' && one.outcome !== undefined);
  if (known.length > 0) await pursue(caller, random.pick(known), 1);
}

function jobOf(party: Party, kind: Request['kind'], path: string, body: object, predictions = 0): Request {
  return { kind, party, path, body, predictions, headers: { 'idempotency-key': randomUUID() } };
}

const prompt = (mark: string) => `Shall I file report ${mark}?`;

function newReply({ calls, party }: Caller): Request {
  const mark = newMark();
  return calls.add({ ...jobOf(party, 'reply', PREDICT, replyBody({ agent_input: prompt(mark) }), 1), mark });
}

function newBatch({ calls, party, random }: Caller): Request {
  const prompts = Array.from({ length: 2 + random.below(18) }, () => prompt(newMark()));
  return calls.add(jobOf(party, 'batch', BATCH, batchBody(prompts), prompts.length));
}

const reply: Scene = (caller) => pursue(caller, newReply(caller));
const leaveReply: Scene = (caller) => leaveOnce(caller, newReply(caller));
const batch: Scene = (caller) => pursue(caller, newBatch(caller));

async function draft(caller: Caller): Promise<void> {
  const mark = newMark();
  const body = { draft: `Please send report ${mark} to` };
  const { calls, party } = caller;
  await ask(
    caller,
    calls.add({ kind: 'draft', party, path: '/api/predictions/draft/', body, predictions: 1, mark }),
  );
}

async function batchInBackground(caller: Caller): Promise<void> {
  const request = newBatch(caller);
  const receipt = await ask<JobReceipt>(caller, request, { prefer: 'respond-async' });
  await pause(caller, 300);
  if (receipt?.status === 202 && caller.random.next() < 0.5) {
    const at = caller.random.pick(caller.ingresses);
    const path = `/api/jobs/${receipt.body.job_id}/`;
    const answer = await caller.calls.send<{ state: string }>(caller.party, 'DELETE', path, undefined, {
      at,
    });
    if (answer?.status === 200) request.told = answer.body.state;
  }
  await pursue(caller, request);
}

/** Records a prompt and its reply, again and again until they are accepted, and syncs. */
async function record(caller: Caller): Promise<void> {
  const { calls, party, random, ingresses, recorded } = caller;
  const common = { session_id: randomUUID(), occurred_at: new Date().toISOString() };
  const asked = event(common);
  const answered = event({
    ...common,
    type: 'user.reply',
    reply: 'Yes, after lunch.',
    in_reply_to: asked.id,
  });
  const events = [asked, answered];
  for (let n = 0; n < TRIES; n += 1) {
    const at = random.pick(ingresses);
    const answer = await calls.send(party, 'POST', '/api/recording/events/', events, { at });
    if (answer !== undefined && answer.status < 300) {
      for (const { id } of events) recorded.add(id);
      break;
    }
    await pause(caller, PAUSE_MS);
  }
  await pursue(caller, calls.add(syncOf(caller)));
}

async function promote(caller: Caller): Promise<void> {
  const { calls, party } = caller;
  const promotion = (tier: string) => jobOf(party, 'promotion', `/api/memory/promote/${tier}/`, {});
  await pursue(caller, calls.add(promotion(caller.random.pick(['episodes', 'facts']))));
}

/** What an app's callers do, as often as it is listed. */
export const APP_SCENES: Scene[] = [
  ...Array.from({ length: 8 }, () => predict),
  ...[supersede, supersede, cancel, cancel, leave, leave, twins, repeat],
];
/** What an account's callers do. */
export const ACCOUNT_SCENES: Scene[] = [
  ...Array.from({ length: 6 }, () => reply),
  ...[draft, batch, batch, batchInBackground, leaveReply, record, record, promote],
];
