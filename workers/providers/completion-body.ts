import { parseJson } from './answer.ts';
import type { Completion, WrittenToken } from './chat.ts';
import { ProviderError, type Usage } from './provider.ts';

/**
 * Parses the body of a successful response: JSON, or server-sent events, which some servers answer with although none
 * were asked for. Throws a `ProviderError` that says what the body is instead.
 */
export function parseBody(text: string): unknown {
  if (EVENT_STREAM.test(text)) return joinEvents(text);
  const body = parseJson(text);
  if (body === undefined) throw unusableAnswer(kindOf(text), null);
  return body;
}

const EVENT_STREAM = /^\s*(?:data|event|id|retry)?:/;

/** Says what a text is that is not JSON, without quoting it. */
export function kindOf(text: string): string {
  if (text.trim() === '') return 'an empty body';
  if (/^\s*</.test(text)) return 'HTML';
  return /^\s*[{[]/.test(text) ? 'truncated JSON' : 'no JSON';
}

/** Makes one answer of the parts in which it was sent. */
function joinEvents(text: string): unknown {
  const data = text
    .split(/[\r\n]+/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trim())
    .filter((one) => one !== '');
  const chunks = data.filter((one) => one !== '[DONE]').map(parseJson);
  const choices = chunks.map((chunk) => field(field(chunk, 'choices'), 0));
  const latest = (name: string, of: readonly unknown[]) =>
    of.map((one) => field(one, name)).findLast((value) => value !== undefined && value !== null);
  const joined = (name: string) =>
    choices.map((choice) => textOf(field(field(choice, 'delta'), name)) ?? '').join('');
  const error = latest('error', chunks) ?? latest('error', choices);
  const finish = latest('finish_reason', choices);
  const isWhole = finish !== undefined || error !== undefined || data.at(-1) === '[DONE]';
  if (chunks.includes(undefined) || !isWhole) throw unusableAnswer('a truncated stream', null);
  const parts = { content: joined('content'), refusal: joined('refusal'), reasoning: joined('reasoning') };
  const content = choices.flatMap((choice) => field(field(choice, 'logprobs'), 'content') ?? []);
  return {
    error,
    model: latest('model', chunks),
    usage: latest('usage', chunks),
    choices: [{ message: latest('message', choices) ?? parts, finish_reason: finish, logprobs: { content } }],
  };
}

interface ErrorInside {
  status: number;
  error: unknown;
  /** Null if the server counted no tokens. */
  usage: Usage | null;
}

/** Status of an error that states none. */
const BAD_GATEWAY = 502;

/** Returns the error that a server reports inside a successful response, with its status. */
export function errorIn(answer: unknown): ErrorInside | undefined {
  const body = Array.isArray(answer) ? answer[0] : answer;
  const choice = field(field(body, 'choices'), 0);
  const own = field(body, 'object') === 'error' ? body : undefined;
  const failed = field(choice, 'finish_reason') === 'error' ? {} : undefined;
  const error = field(body, 'error') || own || field(choice, 'error') || failed;
  if (!error) return undefined;
  const codes = [field(error, 'code'), field(error, 'status'), field(error, 'status_code')].map(Number);
  const status = codes.find((code) => code >= 400 && code <= 599) ?? BAD_GATEWAY;
  return { status, error, usage: readUsage(field(body, 'usage')) };
}

/** Reads the body of a successful response. Throws a `ProviderError` if it contains no completion. */
export function readCompletion(body: unknown): Completion {
  const choice = field(field(body, 'choices'), 0);
  const message = field(choice, 'message');
  const usage = readUsage(field(body, 'usage'));
  const counted = { usage, ...readModel(field(body, 'model')) };
  if (!isRecord(message)) throw unusableAnswer('no message', usage);
  const finish = field(choice, 'finish_reason');
  if (finish === 'content_filter' || textOf(message['refusal'])) return { state: 'refused', ...counted };
  const content = textOf(message['content']);
  if (content === undefined) throw unusableAnswer('content is no text', usage);
  const text = content.trim() === '' ? (answerInThoughts(message) ?? content) : content;
  const tokens = readTokens(field(field(choice, 'logprobs'), 'content'));
  return { state: finish === 'length' ? 'cut_off' : 'written', text, tokens, ...counted };
}

/** Joins the text parts of a content that is a list. Returns undefined for what has no text. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) return undefined;
  return content.map(textOfPart).join('');
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part;
  const [type, text] = [field(part, 'type') ?? 'text', field(part, 'text')];
  return (type === 'text' || type === 'output_text') && typeof text === 'string' ? text : '';
}

/** Some servers take the whole answer of a model that does not think for its thoughts. */
function answerInThoughts(message: Record<string, unknown>): string | undefined {
  return [message['reasoning_content'], message['reasoning']]
    .filter((text) => typeof text === 'string')
    .find((text) => /^\{[\s\S]*\}$/.test(text.trim()));
}

function readTokens(list: unknown): WrittenToken[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one) => {
    const [token, logprob] = [field(one, 'token'), field(one, 'logprob')];
    return typeof token === 'string' && typeof logprob === 'number' ? [{ token, logprob }] : [];
  });
}

function unusableAnswer(why: string, charged: Usage | null): ProviderError {
  return new ProviderError('failed', `unusable answer: ${why}`, { charged });
}

const MODEL_NAME = /^[\w.:/@-]{1,100}$/;

function readModel(model: unknown): { answeredBy?: string } {
  return typeof model === 'string' && MODEL_NAME.test(model) ? { answeredBy: model } : {};
}

/** Maximum plausible number of tokens. A larger count is a bug of the provider. */
const TOKENS_MAX = 100_000_000;

/** Returns null without a plausible count. Zero is no count: every request has a prompt. */
function readUsage(usage: unknown): Usage | null {
  const inputTokens = tokenCount(field(usage, 'prompt_tokens'));
  if (inputTokens === 0) return null;
  const outputTokens = tokenCount(field(usage, 'completion_tokens'));
  const cached = field(field(usage, 'prompt_tokens_details'), 'cached_tokens');
  return { inputTokens, cachedTokens: Math.min(tokenCount(cached), inputTokens), outputTokens };
}

function tokenCount(value: unknown): number {
  const plausible = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKENS_MAX;
  return plausible ? Number(value) : 0;
}

function isRecord(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}

export function field(value: unknown, name: string | number): unknown {
  return isRecord(value) ? value[name] : undefined;
}
