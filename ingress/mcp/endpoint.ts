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
import { MIB } from '../../shared/schemas/limits.ts';
import { hashKey, isServiceKeyShaped, looksLikeServiceKey } from '../../shared/security/keys.ts';
import { Bodies } from '../guards/bodies.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Session, Sessions } from './sessions.ts';
import { createToolServer, type ToolServing } from './tool-server.ts';
import { accountAt, type Caller, checkCredential } from './upstream.ts';

export const PATH = '/mcp';

/** Limits of a message, and the values and names in it. */
const MESSAGE = { limit: MIB, values: 20_000 };
/** The one revision of the protocol with batches; messages in a batch. */
const BATCHING = '2025-03-26';
const BATCH_MAX = 20;

/** As in the Language Server Protocol; JSON-RPC has no code for it. */
const CANCELLED = { code: -32800, message: 'Request cancelled' };

/** The fields of a message that decide where it goes. */
interface Message {
  id?: unknown;
  method?: unknown;
  params?: { protocolVersion?: unknown; requestId?: unknown };
}

interface EndpointTerms extends Pick<ToolServing, 'publicUrl' | 'log'> {
  upstream: string;
  sessions: Sessions;
}

/** The endpoint of the tool server: `POST` carries a message, `DELETE` ends a session. */
export function toolEndpoint({ upstream, sessions, ...serving }: EndpointTerms) {
  const accountOf = ({ http }: ServerContext) => accountAt(upstream, callerIn(http?.authInfo));
  const newServer = () => createToolServer({ ...serving, accountOf });
  // Revisions without sessions: each request is served by its own credential.
  const modern = createMcpHandler(newServer, { legacy: 'reject', maxSubscriptions: 100 });
  const withBody = new Bodies(async () => {}).reader({ credential: 'user', kept: true, ...MESSAGE });

  const answer = async (ctx: RequestContext, credential: string, message: unknown): Promise<Response> => {
    const { address, requestId, signal } = ctx.state;
    const caller: Caller = { credential, address, requestId };
    const request = requestOf(ctx);
    const options = (refused?: () => void) => ({
      authInfo: carrying({ ...caller, ...(refused && { refused }) }),
      parsedBody: message,
    });
    if (!(await isLegacyRequest(request, message))) return modern.fetch(request, options());
    const id = ctx.get('Mcp-Session-Id');
    if (id === '' && isInitialize(message)) {
      await checkCredential(accountAt(upstream, caller), signal);
      const opened = { trace: traceOf(credential), revision: String(message.params?.protocolVersion) };
      return sessions.open(opened, newServer(), (one) => one.transport.handleRequest(request, options()));
    }
    const session = sessionOf(sessions, id, credential);
    const ended = sessions.hold(session, Array.isArray(message) ? checkBatch(message, session) : []);
    ctx.res.once('close', ended);
    const refused = () => {
      session.isRefused = true;
    };
    const response = await session.transport.handleRequest(request, options(refused));
    if (isCancellation(message)) await endCancelled(session, message.params.requestId);
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
          ? await withBody(ctx, traceOf(credential), (message) => answer(ctx, credential, message))
          : await answer(ctx, credential, undefined);
      await send(ctx, response);
    },
    close: () => modern.close(),
  };
}

/** The characters of a token that can be in a header. */
const TOKEN = /^[\w.~+/=-]+$/;

/**
 * The credential of a request: a key or an access token, in either header, since many clients can set only one of them. Throws
 * `invalid_request` for two, and `not_authenticated` for none or a malformed one.
 */
function credentialOf({ headersDistinct }: Pick<IncomingMessage, 'headersDistinct'>): string {
  const { authorization = [], 'x-service-api-key': keys = [] } = headersDistinct;
  const bearers = authorization.map((value) => value.match(/^Bearer +(\S+)$/i)?.[1] ?? '');
  const [credential = '', ...others] = [...bearers, ...keys];
  if (others.length > 0) throw new AppError('invalid_request');
  const isPossible = isServiceKeyShaped(credential)
    ? looksLikeServiceKey(credential)
    : TOKEN.test(credential);
  if (!isPossible) throw new AppError('not_authenticated');
  return credential;
}

/** Stands for a credential: a session keeps no other trace of it. */
function traceOf(credential: string): string {
  return hashKey(credential).toString('base64');
}

const NO_QUERY = 'The address takes no query. Send the credential in a header: others can read a URL.';
const NO_SESSION = 'There is no such session, or it has ended. Initialize again.';
const OTHERS = 'The session was opened with another credential. Initialize again with this one.';

function sessionOf(sessions: Sessions, id: string, credential: string): Session {
  if (id === '')
    throw new AppError('invalid_request', { explanation: 'Initialize first, and send Mcp-Session-Id.' });
  const session = sessions.find(id);
  if (session === undefined) throw new AppError('not_found', { explanation: NO_SESSION });
  if (session.trace !== traceOf(credential)) throw new AppError('access_denied', { explanation: OTHERS });
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

/** The SDK answers nothing to what is cancelled, and would leave its stream open. Others of a batch wait on the same stream. */
async function endCancelled({ transport, batched }: Session, id: string | number): Promise<void> {
  if (!batched.has(id)) transport.closeSSEStream(id);
  // It fails where all of the batch are answered by now.
  else await transport.send({ jsonrpc: '2.0', id, error: CANCELLED }).catch(() => {});
}

/** Returns the ids of the messages. */
function checkBatch(messages: (Message | null)[], { revision }: Session): unknown[] {
  if (revision !== BATCHING)
    throw new AppError('invalid_request', { explanation: 'This revision of the protocol has no batches.' });
  if (messages.length > BATCH_MAX)
    throw new AppError('invalid_request', { explanation: `A batch has at most ${BATCH_MAX} messages.` });
  return messages.map((message) => message?.id);
}

/** The SDK hands this on to the handlers, and reads nothing of it. */
function carrying(caller: Caller): AuthInfo {
  return { token: caller.credential, clientId: '', scopes: [], extra: { caller } };
}

function callerIn(info: AuthInfo | undefined): Caller {
  const caller = info?.extra?.['caller'];
  if (caller === undefined) throw new Error('a request without a caller');
  return caller as Caller;
}

/** The request without its body, which was read. */
function requestOf({ req, state }: RequestContext): Request {
  const headers = Object.entries(req.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const { method = 'POST' } = req;
  return new Request(`http://localhost${PATH}`, { method, headers, signal: state.signal });
}

/** A stream is sent as it comes, everything else whole. */
async function send(ctx: RequestContext, response: Response): Promise<void> {
  const { status, headers, body } = response;
  const isStream = headers.get('content-type') === 'text/event-stream';
  ctx.body = isStream ? Readable.fromWeb(body as ReadableStream) : await response.text();
  ctx.status = status;
  ctx.remove('Content-Type');
  ctx.set(Object.fromEntries(headers));
}
