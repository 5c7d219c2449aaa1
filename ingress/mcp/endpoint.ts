import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AppError } from '../../shared/errors/app-error.ts';
import { KIB, MIB } from '../../shared/schemas/limits.ts';
import { hashKey, looksLikeServiceKey, startsLikeServiceKey } from '../../shared/security/keys.ts';
import { Bodies } from '../guards/bodies.ts';
import type { RequestContext } from '../http/request-context.ts';
import { endCancelled, type Session, type Sessions } from './sessions.ts';
import { createToolServer, type ToolServerParts } from './tool-server.ts';
import { accountClientAt, type Caller, checkCredential } from './upstream.ts';

export const PATH = '/mcp';

const MESSAGE_LIMITS = { limit: MIB, values: 20_000 };
/** The only revision of the protocol that has batches. */
const BATCH_REVISION = '2025-03-26';
const BATCH_MESSAGES_MAX = 20;
/** Maximum bytes of the message that opens a session. The session keeps the texts of that message. */
const INITIALIZE_BYTES_MAX = 16 * KIB;

interface Message {
  id?: unknown;
  method?: unknown;
  params?: { protocolVersion?: unknown; requestId?: unknown };
}

interface ToolEndpointParts extends Pick<ToolServerParts, 'publicUrl' | 'log'> {
  upstream: string;
  sessions: Sessions;
}

/** Creates the endpoint of the tool server: `POST` carries a message, `DELETE` ends a session. */
export function toolEndpoint({ upstream, sessions, ...parts }: ToolEndpointParts) {
  const accountOf = ({ http }: ServerContext) => accountClientAt(upstream, callerIn(http?.authInfo));
  const newServer = () => createToolServer({ ...parts, accountOf });
  // Serves the revisions of the protocol that have no sessions: each request carries its own credential.
  const modern = createMcpHandler(newServer, { legacy: 'reject', maxSubscriptions: 100 });
  const withBody = new Bodies(async () => {}).reader({
    credential: 'user',
    keepsBody: true,
    ...MESSAGE_LIMITS,
  });

  const answer = async (
    ctx: RequestContext,
    credential: string,
    message: unknown,
    bytes = 0,
  ): Promise<Response> => {
    const { address, requestId, signal } = ctx.state;
    const caller: Caller = { credential, address, requestId };
    const request = requestOf(ctx);
    const options = (onRefused?: () => void) => ({
      authInfo: authInfoOf({ ...caller, ...(onRefused && { onRefused }) }),
      parsedBody: message,
    });
    if (!(await isLegacyRequest(request, message))) return modern.fetch(request, options());
    const id = ctx.get('Mcp-Session-Id');
    if (id === '' && isInitialize(message)) {
      if (bytes > INITIALIZE_BYTES_MAX) throw new AppError('body_too_large');
      await checkCredential(accountClientAt(upstream, caller), signal);
      const settings = {
        credentialHash: credentialHashOf(credential),
        allowsBatches: message.params?.protocolVersion === BATCH_REVISION,
      };
      return sessions.open(settings, newServer(), ({ transport }) =>
        transport.handleRequest(request, options()),
      );
    }
    const session = sessionOf(sessions, id, credential);
    // If the response has closed already, nothing would release the session.
    signal.throwIfAborted();
    const release = sessions.hold(session, Array.isArray(message) ? checkBatch(message, session) : []);
    ctx.res.once('close', release);
    const onRefused = () => {
      session.isRefused = true;
    };
    const response = await session.transport.handleRequest(request, options(onRefused));
    for (const one of [message].flat())
      if (isCancellation(one)) await endCancelled(session, one.params.requestId);
    return response;
  };

  return {
    async serve(ctx: RequestContext): Promise<void> {
      if (ctx.path !== PATH) throw new AppError('not_found');
      ctx.state.route = PATH;
      if (ctx.method !== 'POST' && ctx.method !== 'DELETE') {
        ctx.set('Allow', 'DELETE, POST');
        throw new AppError('method_not_allowed');
      }
      if (ctx.querystring !== '') throw new AppError('invalid_request', { explanation: NO_QUERY });
      const credential = credentialOf(ctx.req);
      const response =
        ctx.method === 'POST'
          ? await withBody(ctx, credentialHashOf(credential), (message, bytes) =>
              answer(ctx, credential, message, bytes),
            )
          : await answer(ctx, credential, undefined);
      await send(ctx, response);
    },
    close: () => modern.close(),
  };
}

const TOKEN_PATTERN = /^[\w.~+/=-]+$/;

/**
 * Reads the credential of a request: a key or an access token, in either header, since many clients can set only one
 * of the two. Throws `invalid_request` for two credentials, `not_authenticated` for none or a malformed one.
 */
function credentialOf({ headersDistinct }: Pick<IncomingMessage, 'headersDistinct'>): string {
  const { authorization = [], 'x-service-api-key': keys = [] } = headersDistinct;
  const bearers = authorization.map((value) => value.match(/^Bearer +(\S+)$/i)?.[1] ?? '');
  const [credential = '', ...others] = [...bearers, ...keys];
  if (others.length > 0) throw new AppError('invalid_request');
  const isPossible = startsLikeServiceKey(credential)
    ? looksLikeServiceKey(credential)
    : TOKEN_PATTERN.test(credential);
  if (!isPossible) throw new AppError('not_authenticated');
  return credential;
}

/** A session keeps only this hash of its credential. */
function credentialHashOf(credential: string): string {
  return hashKey(credential).toString('base64');
}

const NO_QUERY = 'The address takes no query. Send the credential in a header: others can read a URL.';
const NO_SESSION = 'There is no such session, or it has ended. Initialize again.';
const OTHER_CREDENTIAL = 'The session was opened with another credential. Initialize again with this one.';

function sessionOf(sessions: Sessions, id: string, credential: string): Session {
  if (id === '')
    throw new AppError('invalid_request', { explanation: 'Initialize first, and send Mcp-Session-Id.' });
  const session = sessions.find(id);
  if (session === undefined) throw new AppError('not_found', { explanation: NO_SESSION });
  if (session.credentialHash !== credentialHashOf(credential))
    throw new AppError('access_denied', { explanation: OTHER_CREDENTIAL });
  return session;
}

function isInitialize(message: unknown): message is Message {
  return (
    typeof message === 'object' && message !== null && 'method' in message && message.method === 'initialize'
  );
}

function isCancellation(message: unknown): message is { params: { requestId: string | number } } {
  const { method, params }: Message = message ?? {};
  return method === 'notifications/cancelled' && ['string', 'number'].includes(typeof params?.requestId);
}

/** Returns the ids of a batch's messages. Throws `invalid_request` for a batch that is not allowed. */
function checkBatch(messages: (Message | null)[], { allowsBatches }: Session): unknown[] {
  if (!allowsBatches)
    throw new AppError('invalid_request', { explanation: 'This revision of the protocol has no batches.' });
  if (messages.length > BATCH_MESSAGES_MAX)
    throw new AppError('invalid_request', {
      explanation: `A batch has at most ${BATCH_MESSAGES_MAX} messages.`,
    });
  return messages.map((message) => message?.id);
}

/** Packs a caller into the object that the SDK passes to the handlers unchanged. */
function authInfoOf(caller: Caller): AuthInfo {
  return { token: caller.credential, clientId: '', scopes: [], extra: { caller } };
}

function callerIn(info: AuthInfo | undefined): Caller {
  const caller = info?.extra?.['caller'];
  if (caller === undefined) throw new Error('a request without a caller');
  return caller as Caller;
}

/** Creates a `Request` of the Fetch API, without the body, which was read before. */
function requestOf({ req, state }: RequestContext): Request {
  const headers = Object.entries(req.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const { method = 'POST' } = req;
  return new Request(`http://localhost${PATH}`, { method, headers, signal: state.signal });
}

async function send(ctx: RequestContext, response: Response): Promise<void> {
  const { status, headers, body } = response;
  const isStream = headers.get('content-type') === 'text/event-stream';
  ctx.body = isStream ? Readable.fromWeb(body as ReadableStream) : await response.text();
  ctx.status = status;
  ctx.remove('Content-Type');
  ctx.set(Object.fromEntries(headers));
}
