import type { RawMemoryResponse } from '../../shared/schemas/memory.ts';
import type { BatchResponse, ReplyDetail, ReplyResponse } from '../../shared/schemas/replies.ts';
import type { UserClient } from './account.ts';
import type { Options, Reply } from './client.ts';
import { type ProviderCall, type Step, structured } from './fake-provider.ts';
import { add } from './memory.ts';

export const PREDICT = '/api/predictions/predict/';

export function replyBody<Part extends object>(part?: Part) {
  return { agent: 'coder', agent_input: 'Which colour shall the button have?', ...part };
}

export function predictReply<Body = ReplyResponse>(
  person: UserClient,
  part: object = {},
  options: Options = {},
): Promise<Reply<Body>> {
  return person.request<Body>('POST', PREDICT, replyBody(part), options);
}

/** Stores a prompt, and the person's reply to it, as raw rows in a new session. */
export async function addReply(
  person: UserClient,
  prompt: string,
  reply: string,
  place: number,
): Promise<RawMemoryResponse> {
  const at = (s: number) => new Date(Date.UTC(2026, 1, 1, 12, 10 * place, s)).toISOString();
  const common = { agent: 'coder', session_id: `session-${place}` };
  await add(person, 'raw', { ...common, content: prompt, kind: 'prompt', occurred_at: at(1) });
  return add(person, 'raw', { ...common, content: reply, kind: 'reply', occurred_at: at(2) });
}

/** Makes the person give a reply to the prompt of `replyBody` often enough to support it. */
export async function supportReply(person: UserClient, reply: string): Promise<void> {
  for (const place of [0, 1]) await addReply(person, replyBody().agent_input, reply, place);
}

export async function predictSuccessfully(person: UserClient, part: object = {}): Promise<ReplyResponse> {
  const { status, text, body } = await predictReply(person, part);
  if (status !== 200) throw new Error(`predicting was answered ${status} ${text}`);
  return body;
}

export const BATCH = '/api/predictions/predict/batch/';

export function batchBody<Part extends object>(inputs: readonly string[], part?: Part) {
  return { prompts: inputs.map((agent_input) => ({ agent: 'coder', agent_input })), ...part };
}

export function predictBatch<Body = BatchResponse>(
  person: UserClient,
  inputs: readonly string[],
  { part = {}, ...options }: Options & { part?: object } = {},
): Promise<Reply<Body>> {
  return person.request<Body>('POST', BATCH, batchBody(inputs, part), options);
}

/** Returns `Prompt 0?`, `Prompt 1?`, … */
export const inputsOf = (count: number) => Array.from({ length: count }, (_, n) => `Prompt ${n}?`);

export function promptIn(call: ProviderCall): string {
  return (call.record as unknown as { prompt: string }).prompt;
}

export const forPrompts =
  (
    matches: (prompt: string) => boolean,
    step: Step,
    otherwise: Step = proposeReplies([{ response: 'Blue' }]),
  ): Step =>
  (response, call) =>
    (matches(promptIn(call)) ? step : otherwise)(response, call);

export const echoPrompt: Step = (response, call) =>
  proposeReplies([{ response: `Re: ${promptIn(call)}` }])(response, call);

export function feedback(
  person: UserClient,
  { id }: { id: string },
  given: object,
): Promise<Reply<ReplyDetail>> {
  return person.request<ReplyDetail>('POST', `/api/predictions/${id}/feedback/`, given);
}

interface Proposal {
  response: string;
  likelihood?: string;
  reasoning?: string;
  needs_unknown_fact?: boolean;
}

export function proposeReplies(
  candidates: Proposal[],
  { none = 'guess', situation = 'approval' } = {},
): Step {
  return structured({
    situation,
    candidates: candidates.map(
      ({ response, likelihood = 'almost_certain', reasoning = 'A habit.', ...rest }) => ({
        reasoning,
        response,
        needs_unknown_fact: rest.needs_unknown_fact ?? false,
        likelihood,
      }),
    ),
    none_of_these: none,
  });
}
