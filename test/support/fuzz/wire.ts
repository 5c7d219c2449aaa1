import type { Header } from './forms.ts';

interface Message {
  method: string;
  target: string;
  headers: readonly Header[];
  body: Buffer | undefined;
}

const CHUNKED = 'Transfer-Encoding: chunked';

/** The parts of a message from which its odd forms are written. */
class Parts {
  readonly top: string;
  readonly body: Buffer;
  readonly length: string;
  readonly start: string;
  readonly #lines: string[];

  constructor({ method, target, headers, body = Buffer.alloc(0) }: Message) {
    this.start = `${method} ${target}`;
    this.top = `${this.start} HTTP/1.1`;
    this.body = body;
    this.length = `Content-Length: ${body.length}`;
    this.#lines = [...headers.map((pair) => pair.join(': ')), 'Connection: close'];
  }

  write(line: string, more: string[], content: Buffer | string = this.body, end = '\r\n'): Buffer {
    const head = Buffer.from([line, ...this.#lines, ...more, '', ''].join(end), 'latin1');
    return Buffer.concat([head, typeof content === 'string' ? Buffer.from(content, 'latin1') : content]);
  }

  /** Writes the usual request line and headers, and `more` of these. */
  with(...more: string[]): Buffer {
    return this.write(this.top, more);
  }

  chunked(more: string[], size = this.body.length.toString(16), trailer = ''): Buffer {
    return this.write(this.top, more, `${size}\r\n${this.body.toString('latin1')}\r\n0\r\n${trailer}\r\n`);
  }
}

/** Unusual and invalid forms of a request. Most ask the server to close the connection. */
export const WIRE_FORMS = {
  'two lengths': (m) => m.with(m.length, `Content-Length: ${m.body.length + 1}`),
  'length and chunked': (m) => m.chunked([m.length, CHUNKED]),
  'chunked twice': (m) => m.chunked([`${CHUNKED}, chunked`]),
  'negative length': (m) => m.with('Content-Length: -1'),
  'huge length': (m) => m.with('Content-Length: 99999999999999999999999'),
  'bad chunk size': (m) => m.chunked([CHUNKED], 'zz'),
  'chunk extension': (m) => m.chunked([CHUNKED], `${m.body.length.toString(16)};x="${'y'.repeat(9000)}"`),
  trailers: (m) => m.chunked([CHUNKED, 'Trailer: Authorization'], undefined, 'Authorization: x\r\n'),
  'lf only': (m) => m.write(m.top, [m.length], m.body, '\n'),
  'folded header': (m) => m.with(m.length, 'X-A: b\r\n c'),
  'space before colon': (m) => m.with('Content-Length : 0'),
  'nul in header': (m) => m.with(m.length, 'X-A: b\0c'),
  'nul in target': (m) => m.write(`${m.start}\0 HTTP/1.1`, [m.length]),
  'no host': (m) => Buffer.from(`${m.top}\r\nConnection: close\r\n\r\n`, 'latin1'),
  'two hosts': (m) => m.with(m.length, 'Host: evil.example'),
  'http/1.0': (m) => m.write(`${m.start} HTTP/1.0`, [m.length]),
  'http/0.9': (m) => Buffer.from(`${m.start}\r\n`, 'latin1'),
  'http/2': () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  'http/3.7': (m) => m.write(`${m.start} HTTP/3.7`, [m.length]),
  'long header': (m) => m.with(m.length, `X-A: ${'b'.repeat(70_000)}`),
  'many headers': (m) => m.with(m.length, ...Array.from({ length: 2500 }, (_, n) => `X-${n}: y`)),
  'long target': (m) => m.write(`${m.start}${'x'.repeat(70_000)} HTTP/1.1`, [m.length]),
  'space in target': (m) => m.write(`${m.start} x HTTP/1.1`, [m.length]),
  'raw target': (m) => m.write(`${m.start.replace(' ', ' x')}"<>\\^\`{|} HTTP/1.1`, [m.length]),
  'early data': (m) =>
    Buffer.concat([m.with(m.length), Buffer.from('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')]),
  upgrade: (m) => m.with(m.length, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
} satisfies Record<string, (message: Parts) => Buffer>;
export type WireForm = keyof typeof WIRE_FORMS;

export function bytesOf(message: Message, form: WireForm): Buffer {
  return WIRE_FORMS[form](new Parts(message));
}
