import type { Request } from './request.ts';
import type { WireForm } from './twists.ts';

/** Encodes a request in an unusual or invalid form. Most forms ask the server to close the connection. */
export function bytesOf(
  { method, target, headers, body = Buffer.alloc(0) }: Request,
  form: WireForm,
): Buffer {
  const length = `Content-Length: ${body.length}`;
  const chunked = 'Transfer-Encoding: chunked';
  const lines = [...headers.map(([name, value]) => `${name}: ${value}`), 'Connection: close'];
  const plain = (line: string, more: string[], content: Buffer | string = body, end = '\r\n') =>
    Buffer.concat([
      Buffer.from([line, ...lines, ...more, '', ''].join(end), 'latin1'),
      typeof content === 'string' ? Buffer.from(content, 'latin1') : content,
    ]);
  const top = `${method} ${target} HTTP/1.1`;
  const text = body.toString('latin1');
  const size = body.length.toString(16);
  switch (form) {
    case 'two lengths':
      return plain(top, [length, `Content-Length: ${body.length + 1}`]);
    case 'length and chunked':
      return plain(top, [length, chunked], `${size}\r\n${text}\r\n0\r\n\r\n`);
    case 'chunked twice':
      return plain(top, [`${chunked}, chunked`], `${size}\r\n${text}\r\n0\r\n\r\n`);
    case 'negative length':
      return plain(top, ['Content-Length: -1']);
    case 'huge length':
      return plain(top, ['Content-Length: 99999999999999999999999']);
    case 'bad chunk size':
      return plain(top, [chunked], `zz\r\n${text}\r\n0\r\n\r\n`);
    case 'chunk extension':
      return plain(top, [chunked], `${size};x="${'y'.repeat(9000)}"\r\n${text}\r\n0\r\n\r\n`);
    case 'trailers':
      return plain(
        top,
        [chunked, 'Trailer: Authorization'],
        `${size}\r\n${text}\r\n0\r\nAuthorization: x\r\n\r\n`,
      );
    case 'lf only':
      return plain(top, [length], body, '\n');
    case 'folded header':
      return plain(top, [length, 'X-A: b\r\n c']);
    case 'space before colon':
      return plain(top, ['Content-Length : 0']);
    case 'nul in header':
      return plain(top, [length, 'X-A: b\0c']);
    case 'nul in target':
      return plain(`${method} ${target}\0 HTTP/1.1`, [length]);
    case 'no host':
      return Buffer.from(`${top}\r\nConnection: close\r\n\r\n`, 'latin1');
    case 'two hosts':
      return plain(top, [length, 'Host: evil.example']);
    case 'http/1.0':
      return plain(`${method} ${target} HTTP/1.0`, [length]);
    case 'http/0.9':
      return Buffer.from(`${method} ${target}\r\n`, 'latin1');
    case 'http/2':
      return Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    case 'http/3.7':
      return plain(`${method} ${target} HTTP/3.7`, [length]);
    case 'long header':
      return plain(top, [length, `X-A: ${'b'.repeat(70_000)}`]);
    case 'many headers':
      return plain(top, [length, ...Array.from({ length: 2500 }, (_, n) => `X-${n}: y`)]);
    case 'long target':
      return plain(`${method} ${target}${'x'.repeat(70_000)} HTTP/1.1`, [length]);
    case 'space in target':
      return plain(`${method} ${target} x HTTP/1.1`, [length]);
    case 'raw target':
      return plain(`${method} x${target}"<>\\^\`{|} HTTP/1.1`, [length]);
    case 'upgrade':
      return plain(top, [length, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']);
    case 'early data':
      return Buffer.concat([plain(top, [length]), Buffer.from('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')]);
  }
}
