import OpenAI, {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from 'openai';
import { type TraceHeaders, traceHeaders } from '../../shared/tracing/span.ts';
import { BODY_TOO_LARGE, BrokenAnswer, boundedFetch } from './bounded-fetch.ts';
import type { Chat, ChatRequest, Completion, OptionalParameter } from './chat.ts';
import { DialectRefused, type RefusedPart } from './dialects.ts';
import {
  type CallLimits,
  type ChatMessage,
  LONGEST_PAUSE_MS,
  ProviderError,
  type ProviderFault,
  type Usage,
} from './provider.ts';

/** Each call is one request, which `boundedFetch` repeats only after a stale connection. */
export function openAIChat(options: { apiKey: string; baseUrl: string }): Chat {
  const client = new PlainClient({
    apiKey: options.apiKey,
    baseURL: options.baseUrl,
    // The SDK would read these from the environment, which only shared/config/env.ts may do.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
  });
  return (request, call) => send(client, request, call);
}

/**
 * Leaves out the SDK's support for uploads, streams, retries and other credentials. A request then takes a third of the
 * CPU time.
 */
class PlainClient extends OpenAI {
  override async buildRequest({
    method,
    path,
    body,
    headers,
    signal,
    timeout = this.timeout,
  }: RequestOptions) {
    const sentHeaders = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'forecue',
      authorization: `Bearer ${this.apiKey}`,
      ...(headers as TraceHeaders),
    };
    const req = {
      method,
      headers: new Headers(sentHeaders),
      body: JSON.stringify(body),
      signal: signal ?? null,
    };
    return { req, url: this.buildURL(path, null), timeout };
  }

  override fetchWithTimeout(url: string | URL | Request, init: RequestInit = {}, timeoutMs: number) {
    return boundedFetch(String(url), init, timeoutMs);
  }
}

type RequestOptions = Parameters<OpenAI['buildRequest']>[0];

async function send(client: OpenAI, request: ChatRequest, call: CallLimits): Promise<Completion> {
  call.signal.throwIfAborted();
  try {
    const body = { model: call.model, ...parametersOf(request, call), ...bodyOf(request) };
    // The SDK requires a positive integer.
    const timeout = Math.max(1, Math.floor(call.timeoutMs));
    const options = { signal: call.signal, timeout, headers: traceHeaders() };
    const response = await client.chat.completions.create(body, options).asResponse();
    return readCompletion(await response.json());
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    throw toProviderError(error, { ...request, extras: extrasOf(request, call) });
  }
}

const REASONING_EFFORT = 'low';

function parametersOf(request: ChatRequest, call: CallLimits) {
  const { limit, maxTokens, thoughtTokens = 0, thinks } = request;
  const extras = extrasOf(request, call);
  return {
    [limit]: thinks ? maxTokens + thoughtTokens : maxTokens,
    ...(extras.includes('reasoning_effort') && ({ reasoning_effort: REASONING_EFFORT } as const)),
    ...(extras.includes('prompt_cache_key') && { prompt_cache_key: call.cacheKey }),
  };
}

/** Leaves out parameters for which the request has no value. */
function extrasOf({ extras, thoughtTokens }: ChatRequest, { cacheKey }: CallLimits): OptionalParameter[] {
  return extras.filter((extra) => (extra === 'reasoning_effort' ? thoughtTokens : cacheKey) !== undefined);
}

type Body = Pick<OpenAI.ChatCompletionCreateParamsNonStreaming, 'messages' | 'response_format'>;

function bodyOf({ name, messages, schema, format }: ChatRequest): Body {
  switch (format) {
    case 'json_schema': {
      const json_schema = { name, strict: true, schema: { ...schema } };
      return { messages: [...messages], response_format: { type: format, json_schema } };
    }
    case 'json_object':
      return { messages: withShapeDescription(messages, schema), response_format: { type: format } };
    case 'text':
      return { messages: withShapeDescription(messages, schema) };
  }
}

/** Appends the schema to the system message, for servers that do not enforce a schema. */
function withShapeDescription(messages: readonly ChatMessage[], schema: object): ChatMessage[] {
  const shape = `Answer with JSON only: one object that matches this JSON Schema.\n${JSON.stringify(schema)}`;
  const [rules, ...rest] = messages;
  return rules?.role === 'system'
    ? [{ ...rules, content: `${rules.content}\n\n${shape}` }, ...rest]
    : [{ role: 'system', content: shape }, ...messages];
}

/** Maximum plausible number of tokens. A larger count is a bug of the provider. */
const TOKENS_MAX = 100_000_000;

/** Reads the body of a successful response. Throws a `ProviderError` if it contains no completion. */
function readCompletion(body: unknown): Completion {
  const choice = field(field(body, 'choices'), 0);
  const message = field(choice, 'message');
  const usage = readUsage(field(body, 'usage'));
  const counted = { usage, ...readModel(field(body, 'model')) };
  if (!isRecord(message)) throw unusableAnswer('no message', usage);
  const { content, refusal } = message;
  const finish = field(choice, 'finish_reason');
  if (finish === 'length') return { state: 'cut_off', ...counted };
  if (finish === 'content_filter' || (typeof refusal === 'string' && refusal !== ''))
    return { state: 'refused', ...counted };
  const text = content ?? '';
  if (typeof text !== 'string') throw unusableAnswer('content is no text', usage);
  return { state: 'written', text, ...counted };
}

function unusableAnswer(why: string, charged: Usage | null): ProviderError {
  return new ProviderError('failed', `unusable answer: ${why}`, { charged });
}

const MODEL_NAME = /^[\w.:/@-]{1,100}$/;

function readModel(model: unknown): { answeredBy?: string } {
  return typeof model === 'string' && MODEL_NAME.test(model) ? { answeredBy: model } : {};
}

/** Returns null without a plausible count. Zeros are no count: every request has a prompt. */
function readUsage(usage: unknown): Usage | null {
  const inputTokens = tokenCount(field(usage, 'prompt_tokens'));
  const outputTokens = tokenCount(field(usage, 'completion_tokens'));
  if (inputTokens + outputTokens === 0) return null;
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

function field(value: unknown, name: string | number): unknown {
  return isRecord(value) ? value[name] : undefined;
}

/** Drops the SDK's message and cause, which may quote a person's text or the key. */
function toProviderError(error: unknown, dialect: RequestDialect): ProviderError {
  if (error instanceof ProviderError) return error;
  const refusedPart = refusedPartOf(error, dialect);
  if (refusedPart !== undefined) return new DialectRefused(refusedPart, describeError(error));
  return new ProviderError(faultOf(error), describeError(error), {
    retryAfterMs: error instanceof APIError ? retryAfterMs(error.headers) : undefined,
    outage: indicatesOutage(error),
    charged: isUnreadable(error) ? null : undefined,
  });
}

function faultOf(error: unknown): ProviderFault {
  if (error instanceof APIConnectionTimeoutError) return 'timeout';
  if (error instanceof AuthenticationError || error instanceof PermissionDeniedError) return 'not_configured';
  return error instanceof RateLimitError ? 'rate_limited' : 'failed';
}

function isUnreadable(error: unknown): boolean {
  if (error instanceof APIConnectionError) return error.cause instanceof BrokenAnswer;
  return error instanceof SyntaxError;
}

type RequestDialect = Pick<ChatRequest, 'format' | 'limit' | 'extras'>;

/**
 * Searches the error's text for the part of the dialect that the server refused, because there is no error code for it.
 */
function refusedPartOf(error: unknown, { format, limit, extras }: RequestDialect): RefusedPart | undefined {
  if (!(error instanceof BadRequestError || error instanceof UnprocessableEntityError)) return undefined;
  const words = `${error.param} ${error.message}`;
  const extra = extras.find((one) => words.includes(one));
  if (extra !== undefined) return extra;
  if (format !== 'text' && /response_?format|json_?(schema|object)|schema/i.test(words)) return 'format';
  return words.includes(limit) ? 'limit' : undefined;
}

/** Returns true for a 5xx, a 429, a timeout and a failed connection: the request itself is rarely the cause. */
function indicatesOutage(error: unknown): boolean {
  if (error instanceof RateLimitError || error instanceof InternalServerError) return true;
  return error instanceof APIConnectionError && systemCode(error) !== BODY_TOO_LARGE;
}

/**
 * Describes an error without any text of the provider: "InternalServerError 500", "APIConnectionError ECONNREFUSED".
 */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const status = error instanceof APIError ? error.status : undefined;
  return [error.constructor.name, status ?? systemCode(error)].filter((part) => part !== undefined).join(' ');
}

/** Returns the first code in the chain of causes. */
function systemCode(error: Error): string | undefined {
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause instanceof Error ? systemCode(error.cause) : undefined;
}

const NUMBER = /^\d+(\.\d+)?$/;
/**
 * Matches an HTTP date, in the current format or an obsolete one (RFC 9110, 5.6.7). `Date.parse` alone accepts almost
 * any text.
 */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, [\w :-]{18,24} GMT$/;

/**
 * Returns the milliseconds after which the provider asks to retry: `Retry-After` (RFC 9110, 10.2.3), or OpenAI's own
 * header.
 */
export function retryAfterMs(headers: Headers | undefined): number | undefined {
  const exact = headers?.get('retry-after-ms') ?? '';
  if (NUMBER.test(exact)) return boundedPause(Number(exact));
  const value = headers?.get('retry-after') ?? '';
  if (NUMBER.test(value)) return boundedPause(Number(value) * 1000);
  const moment = parseHttpDate(value);
  if (moment === undefined) return undefined;
  // Uses the provider's own clock if the response has a `Date` header.
  return boundedPause(moment - (parseHttpDate(headers?.get('date') ?? '') ?? Date.now()));
}

function parseHttpDate(date: string): number | undefined {
  const ms = HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns undefined if the time to retry has already come. */
function boundedPause(ms: number): number | undefined {
  return ms > 0 ? Math.min(ms, LONGEST_PAUSE_MS) : undefined;
}
