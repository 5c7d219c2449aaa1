import OpenAI, {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { traceHeaders } from '../../shared/tracing/span.ts';
import { BODY_TOO_LARGE, BrokenAnswer, boundedFetch } from './bounded-fetch.ts';
import type { Chat, ChatRequest, Completion, OptionalParameter } from './chat.ts';
import { errorIn, field, kindOf, parseBody, readCompletion } from './completion-body.ts';
import { DialectRefused, type RefusedPart } from './dialects.ts';
import {
  type CallLimits,
  type ChatMessage,
  LONGEST_PAUSE_MS,
  ProviderError,
  type ProviderFault,
} from './provider.ts';

/** Each call is one request, which `boundedFetch` repeats only after a stale connection. */
export function openAIChat({ apiKey, baseUrl }: { apiKey: string; baseUrl: string }): Chat {
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl,
    // The SDK would read these from the environment, which only shared/config/env.ts may do.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    fetch: boundedFetch,
  });
  return (request, call) => send(client, request, call);
}

async function send(client: OpenAI, request: ChatRequest, call: CallLimits): Promise<Completion> {
  call.signal.throwIfAborted();
  try {
    const { limit, maxTokens, thoughtTokens = 0, thinks } = request;
    const body = {
      model: call.model,
      // Some gateways answer with server-sent events unless they are told not to.
      stream: false,
      [limit]: thinks ? maxTokens + thoughtTokens : maxTokens,
      ...optionalParametersOf(request, call),
      ...bodyOf(request),
    } as const;
    // The SDK requires a positive integer.
    const timeout = Math.max(1, Math.floor(call.timeoutMs));
    const options = { signal: call.signal, timeout, headers: traceHeaders() };
    const response = await client.chat.completions.create(body, options).asResponse();
    const answer = parseBody(await response.text());
    const failure = errorIn(answer);
    if (failure === undefined) return readCompletion(answer);
    const { status, error, usage } = failure;
    const failed = toProviderError(
      APIError.generate(status, { error }, undefined, response.headers),
      request,
      call,
    );
    throw status < 500
      ? failed
      : new ProviderError(failed.fault, failed.message, { ...failed, charged: usage });
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    const completion = completionInError(error);
    if (completion !== undefined) return completion;
    throw toProviderError(error, request, call);
  }
}

/** Returns the optional parameters that the server is known or hoped to accept, undefined without a value. */
function optionalParametersOf(
  { extras, thoughtTokens, logprobs }: ChatRequest,
  { cacheKey }: CallLimits,
): Pick<OpenAI.ChatCompletionCreateParamsNonStreaming, OptionalParameter> {
  const ifAccepted = <Value>(extra: OptionalParameter, value: Value) =>
    extras.includes(extra) ? value : undefined;
  return {
    reasoning_effort: ifAccepted('reasoning_effort', thoughtTokens === undefined ? undefined : 'low'),
    prompt_cache_key: ifAccepted('prompt_cache_key', cacheKey),
    logprobs: ifAccepted('logprobs', logprobs),
  };
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

/** Returns what a server says in an error instead of in an answer: a filtered prompt, or a text that is not JSON. */
function completionInError(error: unknown): Completion | undefined {
  if (!(error instanceof BadRequestError)) return undefined;
  if (error.code === 'content_filter') return { state: 'refused', usage: null };
  const text = field(error.error, 'failed_generation');
  return typeof text === 'string' && text.trim() !== '' ? { state: 'written', text, usage: null } : undefined;
}

/** Drops the SDK's message and cause, which may quote a person's text or the key. */
function toProviderError(error: unknown, request: ChatRequest, call: CallLimits): ProviderError {
  if (error instanceof ProviderError) return error;
  const refusedPart = error instanceof APIError ? refusedPartOf(error, request, call) : undefined;
  if (refusedPart !== undefined) return new DialectRefused(refusedPart, describeError(error));
  return new ProviderError(faultOf(error), describeError(error), {
    retryAfterMs: error instanceof APIError ? retryAfterMs(error.headers) : undefined,
    outage: indicatesOutage(error),
    charged: isUnreadable(error) ? null : undefined,
  });
}

const WRONG_KEY = /API_KEY_INVALID|API key not valid/;

function faultOf(error: unknown): ProviderFault {
  if (error instanceof APIConnectionTimeoutError) return 'timeout';
  if (error instanceof AuthenticationError || error instanceof PermissionDeniedError) return 'not_configured';
  if (error instanceof BadRequestError && WRONG_KEY.test(error.message)) return 'not_configured';
  return error instanceof RateLimitError ? 'rate_limited' : 'failed';
}

function isUnreadable(error: unknown): boolean {
  return error instanceof APIConnectionError && error.cause instanceof BrokenAnswer;
}

/** Statuses of errors that have nothing to do with the parameters. */
const OTHER_STATUSES = [401, 402, 403, 408, 413, 429];
const CONTEXT_TOO_LONG = /context[ _](?:length|window|size)/i;
const EXTRA_NAMES: Record<OptionalParameter, RegExp> = {
  reasoning_effort: /reasoning|\bthink/i,
  prompt_cache_key: /prompt_cache_key/i,
  logprobs: /logprobs/i,
};

/**
 * Searches the error's text for the part of the dialect that the server refused, because there is no error code for
 * it. If the text names none, these are all optional parameters.
 */
function refusedPartOf(error: APIError, request: ChatRequest, call: CallLimits): RefusedPart | undefined {
  const { status = 0, param, message } = error;
  const words = `${param} ${message}`;
  if (status < 400 || status > 499) return undefined;
  const parameters = optionalParametersOf(request, call);
  const sent = request.extras.filter((extra) => parameters[extra] !== undefined);
  const named = sent.filter((extra) => EXTRA_NAMES[extra].test(words));
  if (named.length > 0) return named;
  if (OTHER_STATUSES.includes(status) || WRONG_KEY.test(words)) return undefined;
  if (request.format !== 'text' && /response_?format|json_?(schema|object)|schema/i.test(words))
    return 'format';
  if (words.includes(request.limit)) return 'limit';
  return sent.length > 0 && !CONTEXT_TOO_LONG.test(words) ? sent : undefined;
}

/** Returns true for a 5xx, a 429, a timeout and a failed connection: the request itself is rarely the cause. */
function indicatesOutage(error: unknown): boolean {
  if (error instanceof RateLimitError || error instanceof InternalServerError) return true;
  return error instanceof APIConnectionError && systemCode(error) !== BODY_TOO_LARGE;
}

/**
 * Describes an error without any text of the provider: "InternalServerError 500", "PermissionDeniedError 403 HTML",
 * "APIConnectionError ECONNREFUSED".
 */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (isUnreadable(error))
    return `unusable answer: ${systemCode(error) === BODY_TOO_LARGE ? 'too large' : 'it broke off'}`;
  const parts = [error.constructor.name, ...(error instanceof APIError ? statusAndKindOf(error) : [])];
  return [...parts, systemCode(error)].filter((part) => part !== undefined).join(' ');
}

function statusAndKindOf({ status, error, message }: APIError): unknown[] {
  if (status === undefined) return [];
  if (CONTEXT_TOO_LONG.test(message)) return [status, 'context too long: see CONTEXT_BUDGET_TOKENS'];
  const text = message.slice(`${status} `.length);
  return [status, error === undefined && text !== NO_BODY ? kindOf(text) : undefined];
}

/** The SDK's message for an error without a body. */
const NO_BODY = 'status code (no body)';

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
function retryAfterMs(headers: Headers | undefined): number | undefined {
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
