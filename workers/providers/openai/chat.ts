import OpenAI from 'openai';
import type { Chat, ChatRequest, Completion } from '../chat.ts';
import type { Call, ChatMessage } from '../provider.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { readCompletion } from './completion.ts';
import { providerError } from './errors.ts';

/** Any OpenAI-compatible server. Each call is one request, without retries or redirects. */
export function openAIChat(options: { apiKey: string; baseUrl: string }): Chat {
  const client = new OpenAI({
    apiKey: options.apiKey,
    baseURL: options.baseUrl,
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

async function send(client: OpenAI, request: ChatRequest, call: Call): Promise<Completion> {
  call.signal.throwIfAborted();
  try {
    const body = { model: call.model, [request.limit]: request.maxTokens, ...bodyOf(request) };
    // The SDK requires a positive integer.
    const timeout = Math.max(1, Math.floor(call.timeoutMs));
    return readCompletion(await client.chat.completions.create(body, { signal: call.signal, timeout }));
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    throw providerError(error, request);
  }
}

type Body = Pick<OpenAI.ChatCompletionCreateParamsNonStreaming, 'messages' | 'response_format'>;

function bodyOf({ name, messages, schema, format }: ChatRequest): Body {
  switch (format) {
    case 'json_schema': {
      const json_schema = { name, strict: true, schema: { ...schema } };
      return { messages: [...messages], response_format: { type: format, json_schema } };
    }
    case 'json_object':
      return { messages: describingShape(messages, schema), response_format: { type: format } };
    case 'text':
      return { messages: describingShape(messages, schema) };
  }
}

/** The shape at the end of the rules, for servers that cannot be bound to it. */
function describingShape(messages: readonly ChatMessage[], schema: object): ChatMessage[] {
  const shape = `Answer with JSON only: one object that matches this JSON Schema.\n${JSON.stringify(schema)}`;
  const [rules, ...rest] = messages;
  return rules?.role === 'system'
    ? [{ ...rules, content: `${rules.content}\n\n${shape}` }, ...rest]
    : [{ role: 'system', content: shape }, ...messages];
}
