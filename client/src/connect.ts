import { ForecueError } from './errors.ts';
import type { ConnectionExchangeResponse, RevokeResponse } from './generated/schemas.ts';
import type { AppClient } from './v1.ts';

export { nodeHandler } from './node-handler.ts';
export { createRelay, type RelayOptions } from './relay.ts';

/**
 * Answers a standard web `Request`. Hono, Next, Deno and Bun take such a handler as it is; in Express or Koa, wrap it
 * in `nodeHandler`.
 */
export type Handler = (request: Request) => Promise<Response>;

/** Reason why a person could not be connected, in `start` or in `callback`. */
export type ConnectFailure =
  /** The person refused, or their account is disabled or gone or has too many connections. */
  | 'access_denied'
  /** The request does not belong to an attempt that this browser began, or came too late. */
  | 'invalid_state'
  /** No person is logged in to the app. */
  | 'not_authenticated'
  | ForecueError['code'];

export interface ConnectorOptions {
  /** Address that `callback` answers. It must be one of the redirect URIs registered for the app. */
  redirectUri: string;
  /** Returns the app's user who sends the request, from the app's own session; undefined if nobody is logged in. */
  userOf(request: Request): Promise<string | undefined> | string | undefined;
  /** Called when the user is connected: store the `connection_id`, and answer the person. */
  onConnected(
    connection: ConnectionExchangeResponse & { user_id: string },
    request: Request,
  ): Promise<Response> | Response;
  /** Answers a person who could not be connected; by default with a sentence. */
  onFailed?(failure: ConnectFailure, request: Request): Promise<Response> | Response;
}

export interface Connector {
  /** Sends the person to the consent page. */
  start: Handler;
  /** Receives the person who comes back from the consent page. */
  callback: Handler;
  revoke(connectionId: string, userId: string): Promise<RevokeResponse>;
}

/**
 * Content of the cookie while the person is at the consent page. Changing it can only spoil the person's own attempt.
 */
interface Attempt {
  id: string;
  state: string;
  verifier: string;
  issuer: string;
}

const ATTEMPT_TTL_S = 600;
const PRIVATE_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

/**
 * Creates handlers that connect an app's users to their Forecue accounts. They take care of PKCE (RFC 7636), state and
 * issuer (RFC 9207).
 */
export function createConnector(
  client: Pick<AppClient, 'startConnection' | 'exchangeConnection' | 'revokeConnection'>,
  options: ConnectorOptions,
): Connector {
  const { redirectUri, userOf, onConnected, onFailed = sayFailed } = options;
  const isSecure = new URL(redirectUri).protocol === 'https:';
  const name = isSecure ? '__Host-forecue' : 'forecue';
  const cookie = (value: string, seconds: number) =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

  const start = async (user_id: string): Promise<Response> => {
    const { verifier, challenge } = await createPkce();
    const state = randomText();
    const { request_id, authorize_url } = await client.startConnection({
      user_id,
      redirect_uri: redirectUri,
      state,
      code_challenge: challenge,
    });
    const [issuer = ''] = authorize_url.split('/connect/');
    const encodedAttempt = encodeURIComponent(
      JSON.stringify({ id: request_id, state, verifier, issuer } satisfies Attempt),
    );
    return new Response(null, {
      status: 303,
      headers: { location: authorize_url, 'set-cookie': cookie(encodedAttempt, ATTEMPT_TTL_S) },
    });
  };

  const finish = async (user_id: string, request: Request): Promise<Response> => {
    const parameters = new URL(request.url).searchParams;
    const attempt = attemptIn(request, name);
    if (!attempt || parameters.get('state') !== attempt.state || parameters.get('iss') !== attempt.issuer)
      return onFailed('invalid_state', request);
    const code = parameters.get('code');
    if (code === null) return onFailed('access_denied', request);
    const connection = await client.exchangeConnection({
      request_id: attempt.id,
      user_id,
      code,
      code_verifier: attempt.verifier,
      redirect_uri: redirectUri,
    });
    return onConnected({ ...connection, user_id }, request);
  };

  const forUser =
    (answer: (userId: string, request: Request) => Promise<Response>): Handler =>
    async (request) => {
      const userId = await userOf(request);
      if (userId === undefined) return onFailed('not_authenticated', request);
      return answer(userId, request).catch((error) => {
        if (error instanceof ForecueError) return onFailed(error.code, request);
        throw error;
      });
    };
  const finishForUser = forUser(finish);
  return {
    start: async (request) => withPrivateHeaders(await forUser(start)(request)),
    callback: async (request) => withPrivateHeaders(await finishForUser(request), cookie('', 0)),
    revoke: (connectionId, user_id) => client.revokeConnection(connectionId, { user_id }),
  };
}

export async function createPkce(): Promise<{ verifier: string; challenge: string }> {
  const verifier = randomText();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return { verifier, challenge: base64Url(new Uint8Array(digest)) };
}

/** Returns 43 random characters: 256 bits. */
function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

function attemptIn(request: Request, name: string): Attempt | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split('; ').map((one) => one.split('='));
  const [, value] = cookies.find(([key]) => key === name) ?? [];
  try {
    const attempt = JSON.parse(decodeURIComponent(value ?? ''));
    return typeof attempt?.state === 'string' ? attempt : undefined;
  } catch {
    return undefined;
  }
}

/** Copies the answer, because the app's own response may be immutable. */
function withPrivateHeaders(answer: Response, cookie?: string): Response {
  const headers = new Headers(answer.headers);
  for (const [name, value] of Object.entries(PRIVATE_HEADERS)) headers.set(name, value);
  if (cookie !== undefined) headers.append('set-cookie', cookie);
  return new Response(answer.body, { status: answer.status, headers });
}

function sayFailed(failure: ConnectFailure): Response {
  if (failure === 'not_authenticated') return new Response('Log in first.', { status: 401 });
  const text = failure === 'access_denied' ? 'Not connected.' : 'That did not work. Please try again.';
  return new Response(text, { status: 400 });
}
