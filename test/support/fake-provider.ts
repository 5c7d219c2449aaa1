import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIKELIHOODS, type Likelihood } from '../../shared/domain/likelihood.ts';
import { duringSuite } from './during-suite.ts';
import { listen } from './listening.ts';

/** The JSON between `<record>` and `</record>` in the messages to the model. */
export interface PromptRecord {
  mode: string;
  language: string;
  preferences: string;
  known: { profile: { summary: string; data: object } | null; facts: string[] } | null;
  recalled: {
    facts: string[];
    episodes: { on: string; title: string; summary: string }[];
    said: { on: string; role: string | null; own: boolean; content: string }[];
  } | null;
  artifact: { kind: string; selection: string; summary: string } | null;
  messages: { role: string; origin: string; content: string }[];
  draft: string;
}

/** One request that reached the fake. Times are `performance.now()` milliseconds. */
export interface ProviderCall {
  index: number;
  body: { model?: string; messages?: { role: string; content: string }[]; [key: string]: unknown };
  headers: IncomingMessage['headers'];
  /** Name of the schema that the answer must have; empty if the format names none. */
  schema: string;
  /** Record read back from the prompt. Calls that do not ask for a prediction have records of other shapes. */
  record: PromptRecord;
  startedAt: number;
  /** Time at which the whole answer was sent, or the fake broke it off as scripted. */
  finishedAt: number | null;
  abortedAt: number | null;
  /** Resolves with `abortedAt`; stays pending if the client lets the call finish. */
  aborted: Promise<number>;
  /** Resolves when the call has ended, on either side. */
  ended: Promise<void>;
}

/** Reaction of the fake to one call. A custom step may depend on the call: `(r, c) => ok()(r, c)`. */
export type Step = (response: ServerResponse, call: ProviderCall) => void | Promise<void>;

export interface FakeProvider extends AsyncDisposable {
  /** Base URL for `OPENAI_BASE_URL`; ends in `/v1`. */
  readonly url: string;
  readonly calls: readonly ProviderCall[];
  readonly running: number;
  /** Sets the step for every call from now on; `ok()` by default. */
  respond(step: Step): void;
  next(...steps: Step[]): void;
  /** Waits for the n-th call, counted from 1. Rejects after `timeoutMs`. */
  called(n: number, timeoutMs?: number): Promise<ProviderCall>;
  reset(): void;
  close(): Promise<void>;
}

/** Starts an OpenAI-compatible server that answers `POST /v1/chat/completions` as scripted. */
export async function startFakeProvider(): Promise<FakeProvider> {
  const calls: ProviderCall[] = [];
  const nextSteps: Step[] = [];
  const arrivals = new EventTarget();
  let defaultStep = ok();

  const server = createServer(async (request, response) => {
    if (request.url !== '/v1/chat/completions') return void response.writeHead(404).end();
    // If a client disconnects while its body is in transit, there was no call.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const call = record(calls.length, JSON.parse(body), request, response);
    calls.push(call);
    arrivals.dispatchEvent(new Event('call'));
    await (nextSteps.shift() ?? defaultStep)(response, call);
  });
  const here = await listen(server);

  return {
    ...here,
    url: `${here.url}/v1`,
    calls,
    get running() {
      return calls.filter((call) => call.finishedAt === null && call.abortedAt === null).length;
    },
    respond(step) {
      defaultStep = step;
    },
    next(...steps) {
      nextSteps.push(...steps);
    },
    async called(n, timeoutMs = 5000) {
      const signal = AbortSignal.timeout(timeoutMs);
      for (;;) {
        const call = calls[n - 1];
        if (call !== undefined) return call;
        await once(arrivals, 'call', { signal }).catch(() => {
          throw new Error(`the provider was called ${calls.length} times in ${timeoutMs} ms, not ${n}`);
        });
      }
    },
    reset() {
      calls.length = 0;
      nextSteps.length = 0;
      defaultStep = ok();
    },
  };
}

export function useFakeProvider(): FakeProvider {
  return duringSuite(startFakeProvider);
}

function record(
  index: number,
  body: ProviderCall['body'],
  request: IncomingMessage,
  response: ServerResponse,
): ProviderCall {
  const aborted = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  const call: ProviderCall = {
    index,
    body,
    headers: request.headers,
    schema: schemaIn(body),
    get record() {
      return readRecord(body);
    },
    startedAt: performance.now(),
    finishedAt: null,
    abortedAt: null,
    aborted: aborted.promise,
    ended: ended.promise,
  };
  response.on('close', () => {
    const now = performance.now();
    if (response.writableFinished || brokenResponses.has(response)) call.finishedAt = now;
    else {
      call.abortedAt = now;
      aborted.resolve(now);
    }
    ended.resolve();
  });
  return call;
}

function schemaIn(body: ProviderCall['body']): string {
  const format = body['response_format'] as { json_schema?: { name: string } } | undefined;
  return format?.json_schema?.name ?? '';
}

function readRecord(body: ProviderCall['body']): PromptRecord {
  // Searches all messages, since a repair adds messages after the record.
  const fenced = /<record>\n(.*)\n<\/record>/s.exec(
    body.messages?.map(({ content }) => content).join('\n') ?? '',
  );
  if (fenced?.[1] === undefined) throw new Error('the prompt carries no record');
  return JSON.parse(fenced[1]);
}

/** Responses that a step broke off: the client did not close them. */
const brokenResponses = new WeakSet<ServerResponse>();

function breakOff(response: ServerResponse): void {
  brokenResponses.add(response);
  response.socket?.resetAndDestroy();
}

/** Suggests `continuation`, in the answer format that the prompt asks for. */
export function ok(options: { continuation?: string; likelihood?: Likelihood; usage?: unknown } = {}): Step {
  return (response) => {
    const { continuation = ' with care', likelihood = 'likely' } = options;
    const answer = { next: `${LIKELIHOODS.toReversed().indexOf(likelihood)}${continuation}` };
    const usage = 'usage' in options ? options.usage : { prompt_tokens: 12, completion_tokens: 5 };
    send(response, { ...completion({ content: JSON.stringify(answer) }), usage });
  };
}

export function delay(ms: number, step: Step = ok()): Step {
  return async (response, call) => {
    await Promise.race([sleep(ms), call.ended]);
    if (call.abortedAt === null) await step(response, call);
  };
}

export function when(ready: Promise<unknown>, step: Step = ok()): Step {
  return async (response, call) => {
    await Promise.race([ready, call.ended]);
    if (call.abortedAt === null) await step(response, call);
  };
}

export const hang = (): Step => () => {};

export function status(code: number, headers: Record<string, string> = {}, message = 'scripted'): Step {
  return (response) => {
    const body = JSON.stringify({ error: { message, type: 'scripted', code: null } });
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body);
  };
}

/** Answers 200 with `value` as the JSON body, which may have a wrong shape. */
export const json =
  (value: unknown): Step =>
  (response) =>
    send(response, value);

/** Answers with a completion that has this message: `{ content }`, `{ content: null, refusal }`. */
export const message = (fields: Record<string, unknown>, finishReason = 'stop'): Step =>
  json(completion(fields, finishReason));

/** Answers a structured question with a value, or with what a function makes of the call. */
export const structured =
  (value: object | ((call: ProviderCall) => object)): Step =>
  (response, call) => {
    const content = JSON.stringify(typeof value === 'function' ? value(call) : value);
    send(response, completion({ content }));
  };

export const bySchema =
  (steps: Record<string, Step>, otherwise: Step = ok()): Step =>
  (response, call) =>
    (steps[call.schema] ?? otherwise)(response, call);

export const refusal = (): Step => message({ content: null, refusal: 'I cannot help with that.' });

export const contentFilter = (): Step => message({ content: '{"next":"' }, 'content_filter');

/** Answers with text cut off by the provider's limit on output tokens. */
export const lengthStop = (): Step => message({ content: '{"next":"' }, 'length');

/** Answers 200 with these bytes: HTML, nothing at all, half a JSON document. */
export function raw(body: string, contentType = 'application/json'): Step {
  return (response) => void response.writeHead(200, { 'content-type': contentType }).end(body);
}

export const html = (): Step => raw('<!doctype html><title>Gateway</title>', 'text/html');

export const empty = (): Step => raw('');

export const truncatedJson = (): Step => raw('{"id":"x","choices":[{"index":0,"mess');

export function reset(): Step {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":"x",');
    await sleep(20);
    breakOff(response);
  };
}

/** Answers as if the connection switched to another protocol, which the client did not ask for. */
export const switchProtocols = (): Step => (response) => {
  brokenResponses.add(response);
  response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
};

export const huge = (bytes = 20_000_000): Step => ok({ continuation: 'x'.repeat(bytes) });

export const nul = (): Step => ok({ continuation: ' a\0b' });

export const loneSurrogate = (): Step => ok({ continuation: ' a\ud800b' });

/** Sends white space, one byte every `ms`, forever: alive, but never an answer. */
export function drip(ms = 50): Step {
  return async (response, call) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    while (call.abortedAt === null) {
      response.write(' ');
      await Promise.race([sleep(ms), call.ended]);
    }
  };
}

function completion(fields: Record<string, unknown>, finishReason = 'stop') {
  return {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'fake',
    choices: [{ index: 0, message: { role: 'assistant', ...fields }, finish_reason: finishReason }],
    usage: { prompt_tokens: 12, completion_tokens: 5 },
  };
}

function send(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
