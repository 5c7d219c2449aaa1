import OpenAI from 'openai';
import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import { MIB } from '../../shared/schemas/limits.ts';
import { predictionQuestion, readAnswer } from '../prompts/prediction.ts';
import { providerError } from './openai-errors.ts';
import { type Call, type Guess, type Provider, ProviderError, type Usage } from './provider.ts';

const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
/** The longest completion is a few kilobytes; a body this large is no answer. */
const BODY_MAX = MIB;
/** More than any model reads or writes at once: a larger count is a provider's bug. */
const TOKENS_MAX = 100_000_000;

/** Any OpenAI-compatible server. One request per `predict`, without retries or redirects. */
export class OpenAIProvider implements Provider {
  readonly #client: OpenAI;

  constructor(options: { apiKey: string; baseUrl: string | undefined }) {
    this.#client = new OpenAI({
      apiKey: options.apiKey,
      baseURL: options.baseUrl ?? DEFAULT_BASE_URL,
      // The SDK would read these from the environment, which only shared/config/env.ts may do.
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: 'off',
      maxRetries: 0,
      fetch: boundedFetch,
    });
  }

  async predict(task: PredictionTask, call: Call): Promise<Guess> {
    call.signal.throwIfAborted();
    try {
      return readCompletion(await this.#ask(task, call), task);
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      throw providerError(error);
    }
  }

  /** The body of a 200. The SDK types it as a completion, but does not check it. */
  #ask(task: PredictionTask, call: Call): Promise<unknown> {
    const { messages, schemaName, schema } = predictionQuestion(task);
    return this.#client.chat.completions.create(
      {
        model: call.model,
        messages,
        response_format: { type: 'json_schema', json_schema: { name: schemaName, strict: true, schema } },
      },
      // The SDK requires a positive integer.
      { signal: call.signal, timeout: Math.max(1, Math.floor(call.timeoutMs)) },
    );
  }
}

/**
 * `fetch` that follows no redirect, because the request carries the key and a person's text, and reads at most
 * `BODY_MAX` decompressed bytes. Reads the body here, so that the SDK's timeout, which only spans its fetch, covers a
 * stalled body too.
 */
async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error' });
  if (response.body === null) return response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  // An error thrown in the loop cancels the body, which closes the socket.
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > BODY_MAX) throw Object.assign(new Error('answer too large'), { code: 'ERR_BODY_TOO_LARGE' });
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status, headers: response.headers });
}

/** Refused, filtered and empty answers abstain. An answer cut off at the token limit is unusable, like any malformed one. */
function readCompletion(body: unknown, task: PredictionTask): Guess {
  const choice = field(field(body, 'choices'), 0);
  const message = field(choice, 'message');
  if (!isRecord(message)) throw unusable('no message');
  const usage = readUsage(field(body, 'usage'));
  const { content, refusal } = message;
  const finish = field(choice, 'finish_reason');
  if (finish === 'length') throw unusable('cut off at the token limit');
  if (finish === 'content_filter' || isText(refusal) || isEmpty(content))
    return { completion: '', confidence: 0, usage };
  const answer = typeof content === 'string' ? readAnswer(content, task) : null;
  if (answer === null) throw unusable('not the answer format');
  return { ...answer, usage };
}

function readUsage(usage: unknown): Usage {
  return {
    inputTokens: tokens(field(usage, 'prompt_tokens')),
    outputTokens: tokens(field(usage, 'completion_tokens')),
  };
}

function tokens(value: unknown): number {
  const plausible = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKENS_MAX;
  return plausible ? Number(value) : 0;
}

function unusable(why: string): ProviderError {
  return new ProviderError('failed', `unusable answer: ${why}`);
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'string' && value.trim() === '');

function isRecord(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}

function field(value: unknown, name: string | number): unknown {
  return isRecord(value) ? value[name] : undefined;
}
