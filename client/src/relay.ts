import { baseOf } from './base-url.ts';
import { checkCredential } from './session.ts';

export interface RelayOptions {
  /** Address of Forecue. */
  baseUrl: string | URL | undefined;
  /** Key of the app, `fc_…`. */
  appKey: string | undefined;
  /** Returns the id of the user who sends the request, from the app's own session; undefined if nobody is logged in. */
  userOf(request: Request): Promise<string | undefined> | string | undefined;
  /**
   * Returns the user's connection, for suggestions from their account's memory; undefined for a user without one. Pages
   * need not know it, and cannot choose another.
   */
  connectionOf?(userId: string): Promise<string | undefined> | string | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

const RELAYED_PATHS = /\/v1\/(?:predictions|predictions\/[^/]+\/cancel|prediction-events)$/;
const BODY_BYTES_MAX = 1024 * 1024;
const PASSED_HEADERS = [
  'content-type',
  'forecue-alternatives',
  'retry-after',
  'x-request-id',
  'x-error-source',
  'idempotency-replayed',
];

/**
 * Lets the app's pages predict without its key: they call the app, at any path, and the app calls Forecue for the
 * logged-in user. Their client is `createAppClient({ baseUrl: '/that/path' })`. Throws a `TypeError` for an invalid
 * address or key.
 */
export function createRelay({
  baseUrl,
  appKey,
  userOf,
  connectionOf,
  ...rest
}: RelayOptions): (request: Request) => Promise<Response> {
  const base = baseOf(baseUrl);
  checkCredential('appKey', appKey ?? '');
  return async (request) => {
    const [path] = RELAYED_PATHS.exec(new URL(request.url).pathname) ?? [];
    if (path === undefined || request.method !== 'POST') return refuse(404, 'not_found');
    // Pages of other origins cannot send this content type unless the app permits it (CORS).
    if (!request.headers.get('content-type')?.startsWith('application/json'))
      return refuse(400, 'invalid_content_type');
    const user_id = await userOf(request);
    if (user_id === undefined) return refuse(401, 'not_authenticated');
    const text = await textOf(request);
    if (text === undefined) return refuse(413, 'body_too_large');
    const body = jsonObject(text);
    if (body === undefined) return refuse(400, 'invalid_json');
    const connection_id = path === '/v1/predictions' ? await connectionOf?.(user_id) : undefined;
    const passedOn = ['prefer', 'forecue-project', 'forecue-retained'].flatMap((name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    try {
      const answer = await (rest.fetch ?? fetch)(base + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${appKey}`,
          'content-type': 'application/json',
          ...Object.fromEntries(passedOn),
        },
        body: JSON.stringify({ ...body, user_id, ...(connection_id !== undefined && { connection_id }) }),
        signal: request.signal,
        redirect: 'manual',
      });
      const passed = PASSED_HEADERS.flatMap((name) => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value] as [string, string]];
      });
      return new Response(answer.body, {
        status: answer.status,
        headers: [...passed, ['cache-control', 'no-store']],
      });
    } catch {
      return refuse(503, 'service_unavailable', { 'retry-after': '1' });
    }
  };
}

function refuse(status: number, code: string, headers: Record<string, string> = {}): Response {
  return Response.json(
    { detail: { code } },
    { status, headers: { 'cache-control': 'no-store', ...headers } },
  );
}

/** Returns undefined if the body is too large. */
async function textOf({ body }: Request): Promise<string | undefined> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return text + decoder.decode();
    size += value.length;
    if (size > BODY_BYTES_MAX) return void (await reader?.cancel());
    text += decoder.decode(value, { stream: true });
  }
}

function jsonObject(text: string): object | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
