import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from './request.ts';
import { bytesOf } from './wire.ts';

/** An answer. Bytes that are not an HTTP request may get no answer at all. */
export interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Number of answers to a wire form, counted on its own connection; 1 for other requests. */
  answers: number;
}

const LEAVE_AFTER_MS = 20;

/** Sends requests over at most `connections` kept-alive connections; odd ones have a connection of their own. */
export class Sender {
  readonly #agent: Agent;
  readonly #port: number;
  readonly #hangMs: number;

  /** Sets the limits; a request without an answer after `hangMs` counts as hanging. */
  constructor(url: string, { connections, hangMs }: { connections: number; hangMs: number }) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#port = Number(new URL(url).port);
    this.#hangMs = hangMs;
  }

  /** Resolves with the answer; undefined if it was not waited for, or a wire form got none. Otherwise rejects. */
  async send(request: Request): Promise<Received | undefined> {
    if (request.wire !== undefined) return this.#sendBytes(bytesOf(request, request.wire));
    if (request.framing === 'abandoned') return this.#leave(request, { missing: 9 });
    if (request.framing === 'unheard') return this.#leave(request, { missing: 0 });
    try {
      return await this.#ask(request);
    } catch (error) {
      // A connection may close just as it is reused, or before a refused body is written completely.
      if (!RETRIED_CODES.includes((error as { code?: string }).code ?? '')) throw error;
      return this.#ask(request);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask({ method, target, headers, body, framing }: Request): Promise<Received> {
    const { promise, resolve, reject } = Promise.withResolvers<Received>();
    const isSized = framing === undefined && body !== undefined;
    const outgoing = httpRequest({
      agent: this.#agent,
      host: '127.0.0.1',
      port: this.#port,
      method,
      path: target,
      setHost: false,
      headers: [
        ...headers.flat(),
        ...(isSized ? ['Content-Length', String(body.length)] : []),
        ...(framing === undefined ? [] : ['Transfer-Encoding', 'chunked']),
      ],
      timeout: this.#hangMs,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${this.#hangMs} ms`)));
    outgoing.on('error', reject);
    outgoing.on('upgrade', () => reject(new Error('the connection was upgraded')));
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      const finish = () => {
        const { statusCode: status = 0, headers } = incoming;
        resolve({ status, headers, text: Buffer.concat(chunks).toString(), answers: 1 });
      };
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (!chunk.includes(ENDLESS)) return;
        finish();
        incoming.destroy();
      });
      incoming.on('error', reject);
      incoming.on('end', finish);
    });
    if (framing === 'bytewise') for (const piece of piecesOf(body ?? NO_BODY)) outgoing.write(piece);
    outgoing.end(framing === 'bytewise' ? undefined : body);
    return promise;
  }

  /** Leaves without waiting for an answer, with `missing` announced bytes never sent. */
  async #leave(
    { method, target, headers, body = NO_BODY }: Request,
    { missing }: { missing: number },
  ): Promise<undefined> {
    const socket = connect(this.#port, '127.0.0.1').on('error', () => {});
    const lines = [...headers, ['Content-Length', String(body.length + missing)]].map((pair) =>
      pair.join(': '),
    );
    socket.write([`${method} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'), 'latin1');
    socket.write(body);
    await sleep(LEAVE_AFTER_MS * Math.random());
    socket.destroy();
  }

  #sendBytes(bytes: Buffer): Promise<Received | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Received | undefined>();
    const socket = connect(this.#port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunk.includes(ENDLESS)) socket.destroy();
    });
    // The connection may be closed while a refused request is still being sent.
    socket.on('error', () => {});
    socket.on('close', () => resolve(parseAnswers(Buffer.concat(chunks))));
    socket.setTimeout(this.#hangMs, () => {
      reject(new Error(`the connection stayed open for ${this.#hangMs} ms`));
      socket.destroy();
    });
    // Half-closes the connection, so that the server does not wait for the rest of an unfinished body.
    socket.end(bytes);
    return promise;
  }
}

/** First event of a stream that goes on until its client leaves. */
const ENDLESS = 'event: changed';
const NO_BODY = Buffer.alloc(0);
const RETRIED_CODES = ['ECONNRESET', 'EPIPE'];
const PIECES = 50;

function piecesOf(body: Buffer): Buffer[] {
  const size = Math.max(1, Math.ceil(body.length / PIECES));
  return Array.from({ length: Math.ceil(body.length / size) }, (_, n) =>
    body.subarray(n * size, (n + 1) * size),
  );
}

function parseAnswers(bytes: Buffer): Received | undefined {
  const all = bytes.toString('latin1');
  const answers = [...all.matchAll(/(?:^|[}\n])HTTP\/1\.1 (\d{3}) /g)].filter(
    ([, status]) => status !== '100',
  );
  const [first] = answers;
  if (first === undefined) return undefined;
  const [head = '', ...rest] = all.slice(first.index).split('\r\n\r\n');
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': '));
  return {
    status: Number(first[1]),
    headers: Object.fromEntries(
      headers.map(([name = '', ...value]) => [name.toLowerCase(), value.join(': ')]),
    ),
    text: rest.join('\r\n\r\n'),
    answers: answers.length,
  };
}
