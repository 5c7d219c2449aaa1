import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { MIB } from '../../../shared/schemas/limits.ts';

/** The longest answer is some kilobytes; a body this large is none. */
const BODY_MAX = MIB;
export const BODY_TOO_LARGE = 'ERR_BODY_TOO_LARGE';

/**
 * The part of `fetch` that the SDK uses, at half its CPU time: over the platform's own HTTP client and its connection pool.
 * Follows no redirect, because the request carries the key and a person's text. Asks for no compression, and reads at most
 * `BODY_MAX` bytes. Reads the body here, so that the SDK's timeout, which only spans its fetch, covers a stalled body too.
 */
export async function boundedFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const { method, body, signal } = init;
  if (typeof body !== 'string') throw new TypeError('only a text can be sent');
  const headers = Object.fromEntries(new Headers(init.headers));
  const options = {
    method,
    headers: { ...headers, 'accept-encoding': 'identity', 'content-length': Buffer.byteLength(body) },
    signal: signal ?? undefined,
  };
  const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
  // An abort while the body is read is an event here as well.
  request.on('error', () => {});
  request.end(body);
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const bytes = await bodyOf(response);
    return new Response(bytes, { status: response.statusCode, headers: headersOf(response) });
  } catch (error) {
    // To the reader of a body an abort is a connection that breaks off; the SDK tells its time-out by the reason.
    signal?.throwIfAborted();
    throw error;
  }
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // An error thrown in the loop destroys the response, which closes the socket.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX) throw Object.assign(new Error('answer too large'), { code: BODY_TOO_LARGE });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function headersOf({ headersDistinct }: IncomingMessage): [string, string][] {
  return Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]);
}
