import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { LRUCache } from 'lru-cache';
import { GRANT_TOKEN_TYPE, isToolServer, type ResourcePlaces } from '../../shared/domain/resource.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { MIB, NAME_MAX } from '../../shared/schemas/limits.ts';
import { hashKey, looksLikeServiceKey, startsLikeServiceKey } from '../../shared/security/keys.ts';
import { Bodies } from '../guards/bodies.ts';
import type { RequestContext } from '../request/context.ts';
import { RunningCalls } from './running-calls.ts';
import { newSessionId, readSessionId, type Session } from './sessions.ts';
import { createToolServer, type ToolServerParts } from './tool-server.ts';
import { accountClientAt, type Caller, checkCredential } from './upstream.ts';

export const PATH = '/mcp';

const MESSAGE_LIMITS = { limit: MIB, values: 20_000 };
/** The only revision of the protocol that has batches. */
const BATCH_REVISION = '2025-03-26';
const BATCH_MESSAGES_MAX = 20;
/** Credentials that `/api` has accepted, and for how long the tool server trusts them without a call to `/api`. */
const ACCEPTED_CREDENTIALS = { max: 10_000, ttl: 60_000 };

interface Initialize {
  params?: { protocolVersion?: unknown; clientInfo?: { name?: unknown } };
}

interface ToolEndpointParts
  extends Pick<ToolServerParts, 'publicUrl' | 'log'>,
    Pick<ResourcePlaces, 'mcpUrl'> {
  upstream: string;
}

/** Creates the endpoint of the tool server: `POST` carries a message. */
export function toolEndpoint({ upstream, mcpUrl, ...parts }: ToolEndpointParts) {
  const accountOf = ({ http }: ServerContext) => accountClientAt(upstream, callerIn(http?.authInfo));
  const newServer = (agent?: string) => createToolServer({ ...parts, accountOf, ...(agent && { agent }) });
  // Serves the revisions of the protocol that have no sessions.
  const modern = createMcpHandler(() => newServer(), { legacy: 'reject', maxSubscriptions: 100 });
  const calls = new RunningCalls();
  const accepted = new LRUCache<string, true>(ACCEPTED_CREDENTIALS);
  const withBody = new Bodies(async () => {}).reader({
    credential: 'user',
    keepsBody: true,
    ...MESSAGE_LIMITS,
  });

  const answer = async (ctx: RequestContext, credential: string, message: unknown): Promise<Response> => {
    const { address, requestId, signal } = ctx.state;
    const hash = credentialHashOf(credential);
    const caller = { credential, address, requestId, onRefused: () => void accepted.delete(hash) };
    if (isInitialize(message) || !accepted.has(hash)) {
      await checkCredential(accountClientAt(upstream, caller), signal);
      accepted.set(hash, true);
    }
    const request = requestOf(ctx);
    const options = { authInfo: authInfoOf(caller), parsedBody: message };
    if (!(await isLegacyRequest(request, message))) return modern.fetch(request, options);
    const id = ctx.get('Mcp-Session-Id');
    const opened = isInitialize(message) ? sessionOpenedBy(message) : undefined;
    const owner = sessionOwnerOf(credential);
    const { agent, allowsBatches } = opened ?? sessionOf(id, owner);
    if (Array.isArray(message)) checkBatch(message, allowsBatches);
    // If the response has closed already, nothing would end the call.
    signal.throwIfAborted();
    return calls.answer(newServer(agent), request, {
      ...options,
      session: hashKey(owner).toString('base64') + id,
      ...(opened && { newId: newSessionId(opened, owner) }),
      res: ctx.res,
      isStreamed: ctx.get('Accept').includes('text/event-stream'),
    });
  };

  return {
    async serve(ctx: RequestContext): Promise<void> {
      if (ctx.path !== PATH && ctx.path !== `${PATH}/`) throw new AppError('not_found');
      ctx.state.route = PATH;
      if (ctx.method !== 'POST') {
        ctx.set('Allow', 'POST');
        throw new AppError('method_not_allowed');
      }
      if (ctx.querystring !== '') throw new AppError('invalid_request', { explanation: NO_QUERY });
      const credential = credentialOf(ctx.req);
      requireOwnAudience(credential, { mcpUrl });
      const response = await withBody(ctx, credentialHashOf(credential), (message) =>
        answer(ctx, credential, withoutNullArguments(message)),
      );
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
  const bearers = authorization.map((value) => value.match(/^Bearer +(\S+)$/i)?.[1] ?? '?');
  const [credential = '', ...others] = [...bearers, ...keys];
  if (others.length > 0) throw new AppError('invalid_request');
  if (credential === '') throw new AppError('not_authenticated');
  const isKey = startsLikeServiceKey(credential);
  if (!(isKey ? looksLikeServiceKey(credential) : TOKEN_PATTERN.test(credential)))
    throw new AppError('not_authenticated', { explanation: isKey ? MISTYPED_KEY : MALFORMED_TOKEN });
  return credential;
}

/**
 * Refuses the token of a program for another resource, as MCP asks. `/api` verifies the token itself; a key, or the
 * access token of a log-in, names no resource.
 */
function requireOwnAudience(credential: string, places: Pick<ResourcePlaces, 'mcpUrl'>): void {
  const { typ, aud } = claimsIn(credential);
  if (typ === GRANT_TOKEN_TYPE && !(typeof aud === 'string' && isToolServer(aud, places)))
    throw new AppError('not_authenticated', { explanation: OTHER_RESOURCE });
}

/**
 * Returns what a session belongs to: the grant or log-in of an accepted access token, which is renewed each hour, or
 * the key itself.
 */
function sessionOwnerOf(credential: string): string {
  const { gid, sid } = claimsIn(credential);
  return String(gid ?? sid ?? credential);
}

function claimsIn(credential: string): { typ?: string | undefined; [claim: string]: unknown } {
  try {
    return { ...decodeJwt(credential), typ: decodeProtectedHeader(credential).typ };
  } catch {
    return {};
  }
}

const OTHER_RESOURCE = 'The token is for another resource.';
const MISTYPED_KEY = 'The key is incomplete or mistyped: its checksum is wrong.';
const MALFORMED_TOKEN = 'The credential is neither a key nor an access token.';

function credentialHashOf(credential: string): string {
  return hashKey(credential).toString('base64');
}

const NO_QUERY = 'The address takes no query. Send the credential in a header: others can read a URL.';

/** Takes `"arguments": null`, which some clients send, for a call without arguments. */
function withoutNullArguments(message: unknown): unknown {
  const { params } = Object(message) as { params?: { arguments?: unknown } | null };
  if (params?.arguments === null) delete params.arguments;
  return message;
}

function isInitialize(message: unknown): message is Initialize {
  return (
    typeof message === 'object' && message !== null && 'method' in message && message.method === 'initialize'
  );
}

function sessionOpenedBy({ params }: Initialize): Session {
  const name = params?.clientInfo?.name;
  return {
    ...(typeof name === 'string' && { agent: name.slice(0, NAME_MAX) }),
    allowsBatches: params?.protocolVersion === BATCH_REVISION,
  };
}

function sessionOf(id: string, owner: string): Session {
  if (id === '')
    throw new AppError('invalid_request', { explanation: 'Initialize first, and send Mcp-Session-Id.' });
  return readSessionId(id, owner);
}

/** Throws `invalid_request` for a batch that is not allowed. */
function checkBatch({ length }: unknown[], isAllowed: boolean): void {
  if (!isAllowed)
    throw new AppError('invalid_request', { explanation: 'This revision of the protocol has no batches.' });
  if (length > BATCH_MESSAGES_MAX)
    throw new AppError('invalid_request', {
      explanation: `A batch has at most ${BATCH_MESSAGES_MAX} messages.`,
    });
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

const ACCEPT = 'application/json, text/event-stream';

/**
 * Creates a `Request` of the Fetch API, without the body, which was read before. The SDK insists on a client that
 * accepts both a stream and a whole answer.
 */
function requestOf({ req, state }: RequestContext): Request {
  const headers = Object.entries({ ...req.headersDistinct, accept: [ACCEPT] }).flatMap(
    ([name, values = []]) => values.map((value): [string, string] => [name, value]),
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
