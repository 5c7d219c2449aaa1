import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

export function nestedArrays(bytes: number): Buffer {
  return gzipSync('['.repeat(bytes / 2) + ']'.repeat(bytes / 2));
}

export function emptyArrays(bytes: number): { text: string; packed: Buffer } {
  const arrays = `[${'[],'.repeat(bytes / 3 - 2)}[]]`;
  return { text: arrays, packed: gzipSync(arrays) };
}

/** Posts packed JSON. Status 0 means that the connection ended without an answer. */
export async function postPacked(
  url: string,
  path: string,
  body: Buffer,
  { access }: { access?: string } = {},
): Promise<{ status: number; code: string | undefined }> {
  const outgoing = request(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': body.length,
      ...(access && { authorization: `Bearer ${access}` }),
    },
  });
  outgoing.end(body);
  try {
    const [response]: IncomingMessage[] = await once(outgoing, 'response');
    if (response === undefined) return { status: 0, code: undefined };
    const { detail } = JSON.parse(await text(response));
    return { status: response.statusCode ?? 0, code: detail?.code };
  } catch {
    return { status: 0, code: undefined };
  }
}

/** Builds the bytes of a request whose packed body lacks its last byte. */
export function unfinishedRequest(path: string, content: Buffer, access: string): Buffer {
  const packed = gzipSync(content);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${access}`,
    'Content-Type: application/json',
    'Content-Encoding: gzip',
    `Content-Length: ${packed.length}`,
    '',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), packed.subarray(0, -1)]);
}

/** Builds the head of a request with a body of this many bytes; its connection closes after the answer. */
export function requestHead(path: string, bytes: number, access: string): string {
  return [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${access}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes}`,
    '',
    '',
  ].join('\r\n');
}

/** Sends the parts until an answer begins. Resolves with what had come by then; empty if there was no answer. */
export async function sendRaw(url: string, parts: (string | Buffer)[], pauseMs = 0): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  socket.on('error', () => {});
  let answer = '';
  const firstAnswer = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      answer += chunk;
      resolve();
    });
    socket.once('close', resolve);
  });
  for (const part of parts) {
    if (answer !== '' || socket.destroyed) break;
    socket.write(part);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  await firstAnswer;
  socket.destroy();
  return answer;
}
