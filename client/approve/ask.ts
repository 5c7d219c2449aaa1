import { connect } from 'node:net';
import type { Settings } from './state.ts';

export interface Answer {
  id: string;
  decision: 'allow' | 'ask' | 'deny';
  reason: string;
  allowed: number;
  refused: number;
  required: number | null;
}

/**
 * Asks Forecue once. Throws why there is no answer. The agent may wait for this, and `node:http` takes as long to load as
 * the answer, so plain HTTP is written by hand; `node:https` is loaded where it is needed.
 */
export async function ask({ url, key }: Settings, body: object, signal: AbortSignal): Promise<Answer> {
  const address = new URL('/api/predictions/permission/', url);
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    'content-length': `${Buffer.byteLength(text)}`,
    'x-service-api-key': key,
    connection: 'close',
  };
  const send = address.protocol === 'https:' ? sendSecurely : sendPlainly;
  const { status, content } = await send({ address, headers, text, signal });
  if (status === 200) return JSON.parse(content);
  if (status === 0) throw new Error('no answer');
  throw new Error(status === 401 || status === 403 ? 'the key is not accepted' : `HTTP ${status}`);
}

interface Request {
  address: URL;
  headers: Record<string, string>;
  text: string;
  signal: AbortSignal;
}

interface Response {
  status: number;
  content: string;
}

function sendPlainly({ address, headers, text, signal }: Request): Promise<Response> {
  const lines = Object.entries({ host: address.host, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const host = address.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect({ host, port: Number(address.port || 80), signal });
    socket.on('error', reject);
    socket.on('data', (bytes) => received.push(bytes));
    socket.on('close', () => resolve(responseOf(Buffer.concat(received).toString())));
    socket.write(`POST ${address.pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`);
  });
}

/** Reads a whole response (RFC 9112). The answer is ASCII, so that chunks may be cut by their characters. */
function responseOf(text: string): Response {
  const end = text.indexOf('\r\n\r\n');
  const [, status] = /^HTTP\/1\.\d (\d{3})/.exec(text) ?? [];
  const body = text.slice(end + 4);
  const isChunked = /\r\ntransfer-encoding: *chunked/i.test(text.slice(0, end));
  return { status: Number(status ?? 0), content: isChunked ? joined(body) : body };
}

function joined(chunks: string): string {
  let content = '';
  for (let rest = chunks; rest !== ''; ) {
    const start = rest.indexOf('\r\n') + 2;
    const size = Number.parseInt(rest, 16);
    if (!(size > 0)) break;
    content += rest.slice(start, start + size);
    rest = rest.slice(start + size + 2);
  }
  return content;
}

async function sendSecurely({ address, headers, text, signal }: Request): Promise<Response> {
  const { request } = await import('node:https');
  return new Promise((resolve, reject) => {
    const sent = request(address, { method: 'POST', headers, signal }, (response) => {
      const received: Buffer[] = [];
      response.on('data', (bytes) => received.push(bytes));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, content: Buffer.concat(received).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
