import { MIB } from '../../../shared/schemas/limits.ts';

/** The longest answer is some kilobytes; a body this large is none. */
const BODY_MAX = MIB;
export const BODY_TOO_LARGE = 'ERR_BODY_TOO_LARGE';

/**
 * `fetch` that follows no redirect, because the request carries the key and a person's text, and reads at most
 * `BODY_MAX` decompressed bytes. Reads the body here, so that the SDK's timeout, which only spans its fetch, covers a
 * stalled body too.
 */
export async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error' });
  if (response.body === null) return response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  // An error thrown in the loop cancels the body, which closes the socket.
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > BODY_MAX) throw Object.assign(new Error('answer too large'), { code: BODY_TOO_LARGE });
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status, headers: response.headers });
}
