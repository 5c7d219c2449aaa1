import type { Readable, Writable } from 'node:stream';
import { eventsIn } from '../src/event-stream.ts';
import { headersOf } from '../src/session.ts';

/** The fields of a protocol message that decide how it is handled. */
interface Message {
  id?: string | number | null;
  method?: string;
  params?: { name?: unknown; uri?: unknown; requestId?: unknown; _meta?: Record<string, unknown> };
  result?: { protocolVersion?: unknown };
  error?: object;
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const SERVER_ERROR = -32000;
/** Field in which a message states its protocol revision. Only revisions without sessions use it. */
const REVISION_FIELD = 'io.modelcontextprotocol/protocolVersion';
const PLAIN_HEADER = /^[\x21-\x7e]+(?: +[\x21-\x7e]+)*$/;

/** Passes each line of `input` to the tool server, and each answer to `output`. Ends when `input` ends. */
export async function pipe(address: URL, credential: string, input: Readable, output: Writable) {
  const one = new Pipe(address, headersOf(credential), (message) => {
    output.write(`${JSON.stringify(message)}\n`);
  });
  for await (const line of linesOf(input)) one.take(line);
  one.close();
}

/** Avoids `readline`, because it also ends a line at U+2028 and U+2029, which JSON may contain. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of input.setEncoding('utf8') as AsyncIterable<string>) {
    const [first = '', ...others] = chunk.split('\n');
    rest += first;
    for (const next of others) {
      yield rest;
      rest = next;
    }
  }
  yield rest;
}

class Pipe {
  readonly #address: URL;
  readonly #credential: Record<string, string>;
  readonly #write: (message: object) => void;
  readonly #running = new Map<unknown, AbortController>();
  #session: Record<string, string> = {};

  constructor(address: URL, credential: Record<string, string>, write: (message: object) => void) {
    this.#address = address;
    this.#credential = credential;
    this.#write = write;
  }

  take(line: string): void {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#write(errorMessageTo(null, PARSE_ERROR, 'Parse error: a line is one JSON message'));
      return;
    }
    if (typeof message === 'object' && message !== null) void this.#pass(message);
    else this.#write(errorMessageTo(null, INVALID_REQUEST, 'Invalid request: a message is an object'));
  }

  close(): void {
    for (const controller of this.#running.values()) controller.abort();
  }

  /** Passes a message to the server. If that fails, answers with an error if the message is a request. */
  async #pass(message: Message): Promise<void> {
    const { method, params } = message;
    const id = method === undefined ? undefined : message.id;
    const running = new AbortController();
    if (id !== undefined) this.#running.set(id, running);
    // The abort closes the connection, by which the server notices the cancellation.
    if (method === 'notifications/cancelled') this.#running.get(params?.requestId)?.abort();
    try {
      const response = await this.#post(message, running.signal);
      let isAnswered = id === undefined;
      for await (const answer of answersIn(response, id)) {
        if (method === 'initialize') this.#noteSession(response, answer);
        this.#write(answer);
        isAnswered ||= answer.id === id;
      }
      if (!isAnswered) throw new Error('the connection was cut');
    } catch (error) {
      if (running.signal.aborted || id === undefined) return;
      this.#write(errorMessageTo(id, SERVER_ERROR, `The tool server cannot be reached: ${messageOf(error)}`));
    } finally {
      this.#running.delete(id);
    }
  }

  #noteSession({ headers }: Response, { result }: Message): void {
    const id = headers.get('mcp-session-id');
    if (id === null || result === undefined) return;
    this.#session = { 'mcp-session-id': id, 'mcp-protocol-version': String(result.protocolVersion) };
  }

  #post(message: Message, signal: AbortSignal): Promise<Response> {
    return fetch(this.#address, {
      method: 'POST',
      headers: {
        ...this.#credential,
        ...this.#session,
        ...revisionHeaders(message),
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      redirect: 'manual',
      body: JSON.stringify(message),
      signal,
    });
  }
}

/** Yields the messages of the response. An error without an id gets the id of the request. */
async function* answersIn(response: Response, id: Message['id']): AsyncGenerator<Message> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    for await (const { data } of eventsIn(response)) yield JSON.parse(data);
    return;
  }
  const text = await response.text();
  if (response.ok && text === '') return;
  try {
    const answer = JSON.parse(text);
    yield answer.id === null && id !== undefined ? { ...answer, id } : answer;
  } catch {
    throw new Error(`it answered ${response.status}, but not with JSON`);
  }
}

/** Returns the headers that describe a message; empty for a protocol revision with sessions. */
function revisionHeaders({ method = '', params = {} }: Message): Record<string, string> {
  const revision = params._meta?.[REVISION_FIELD];
  if (typeof revision !== 'string') return {};
  const name = params.name ?? params.uri;
  return {
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': headerOf(name) }),
  };
}

function headerOf(text: string): string {
  return PLAIN_HEADER.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function errorMessageTo(id: Message['id'], code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Prefers the message of the cause: if `fetch` failed, only the cause states the reason. */
function messageOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
