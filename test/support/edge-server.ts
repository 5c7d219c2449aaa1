import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import type { Credentials } from '../../ingress/auth/credentials.ts';
import { endpoint, endpointsOn } from '../../ingress/http/endpoint.ts';
import { createKoa } from '../../ingress/http/koa.ts';
import { type ListeningServer, listen } from '../../ingress/http/server.ts';
import type { AppPrincipal } from '../../shared/domain/app.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { catalogue, type ErrorCode } from '../../shared/errors/catalogue.ts';
import { createLog } from '../../shared/log.ts';
import { closedObject, text } from '../../shared/schemas/build.ts';
import { errorBody } from '../../shared/schemas/errors.ts';
import { MIB } from '../../shared/schemas/limits.ts';
import { PredictionRequest, SubjectRequest } from '../../shared/schemas/predictions.ts';
import { compile } from '../../shared/schemas/validator.ts';
import { hashKey, looksLikeAppKey, newAppKey } from '../../shared/security/keys.ts';

const { key, hash } = newAppKey();

export { key };

const principal: AppPrincipal = {
  id: 'app-1',
  fingerprintKey: Buffer.alloc(32),
  onDisconnect: 'continue',
  minConfidence: 0.3,
  disabled: [],
};

export const PERSON = 'a secret text of a person';

const checkErrorBody = compile(errorBody(Object.keys(catalogue) as ErrorCode[]));

interface Edge {
  server: ListeningServer;
  /** Look-ups of an app's key in this test. */
  lookUps: number;
  /** Log lines of this test. */
  logLines: string[];
}

/** The server under test: the HTTP layer of the ingress, with endpoints that need no database. */
export const edge: Edge = {
  server: undefined as never,
  lookUps: 0,
  logLines: [],
};
async function findApp(wanted: Buffer): Promise<AppPrincipal | undefined> {
  edge.lookUps += 1;
  return wanted.equals(hash) ? principal : undefined;
}

/** Looks up the credential at every request, without the cache of credentials. */
const credentials: Credentials = {
  async app({ authorization = '' }) {
    const [, appKey = ''] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    const app = looksLikeAppKey(appKey) ? await findApp(hashKey(appKey)) : undefined;
    if (app === undefined) throw new AppError('invalid_app_key');
    return app;
  },
  user: () => Promise.reject(new AppError('not_authenticated')),
};

const FAILURES: Record<string, () => unknown> = {
  conflict: () => new AppError('request_in_flight'),
  provider: () => new AppError('provider_rate_limited', { retryAfterS: 2.3 }),
  soon: () => new AppError('service_unavailable', { retryAfterS: 0 }),
  cancelled: () => new AppError('prediction_cancelled', { source: 'worker' }),
  timeout: () => new AppError('prediction_timeout'),
  database: () => Object.assign(new Error('terminating'), { code: '57P01' }),
  locked: () => Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }),
  pool: () => new Error('timeout exceeded when trying to connect'),
  deadlock: () => Object.assign(new Error('deadlock detected'), { code: '40P01' }),
  defect: () => new TypeError('undefined is not a function'),
  row: () => Object.assign(new Error(`invalid input: ${PERSON}`), { code: '22P02' }),
  nothing: () => undefined,
};

/** Resolves when the stream of `/v1/endless` has been closed. */
export const streamClosed = Promise.withResolvers<void>();

async function* brokenLines() {
  yield 'a line\n';
  throw new TypeError('undefined is not a function');
}

async function* endlessLines() {
  try {
    for (;;) {
      yield 'a line\n';
      await sleep(1);
    }
  } finally {
    streamClosed.resolve();
  }
}

/** Fields of every test endpoint. The OpenAPI document does not list the test endpoints. */
const plain = { operationId: '', tag: 'Health', summary: '', errors: [], status: 200 } as const;
const unspecified = { ...plain, response: Type.Object({}) } as const;

const v1 = endpointsOn('v1');

const routes = [
  endpointsOn('api')(
    'GET',
    '/api/recording/events/:id/',
    'none',
    endpoint('none', {
      ...plain,
      params: { id: 'text' },
      response: closedObject({ id: Type.String() }),
    }).handle(async ({ params }) => ({ body: { id: params.id } })),
  ),
  v1(
    'POST',
    '/v1/predictions',
    'app',
    endpoint('app', {
      ...plain,
      body: PredictionRequest,
      bodyLimit: 4 * MIB,
      response: closedObject({ request: PredictionRequest, app: Type.String() }),
    }).handle(async ({ body, app }) => ({ body: { request: body, app: app.id } })),
  ),
  v1(
    'POST',
    '/v1/predictions/:request_id/cancel',
    'app',
    endpoint('app', {
      ...plain,
      params: { request_id: 'identifier' },
      body: SubjectRequest,
      response: closedObject({ request_id: Type.String() }),
    }).handle(async ({ params }) => ({ body: { request_id: params.request_id } })),
  ),
  v1(
    'GET',
    '/v1/usage',
    'app',
    endpoint('app', {
      ...unspecified,
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 200 })),
        q: Type.Optional(text(9)),
      }),
    }).handle(async () => ({ body: {} })),
  ),
  v1(
    'GET',
    '/v1/fail/:kind',
    'none',
    endpoint('none', { ...unspecified, params: { kind: 'identifier' } }).handle(async ({ params }) => {
      throw FAILURES[params.kind]?.();
    }),
  ),
  ...(
    [
      ['/v1/stream', brokenLines],
      ['/v1/endless', endlessLines],
    ] as const
  ).map(([path, lines]) =>
    v1(
      'GET',
      path,
      'none',
      endpoint('none', unspecified).handle(async () => ({ body: Readable.from(lines()) })),
    ),
  ),
];

const log = createLog(
  'test',
  'info',
  new Writable({
    write(line, _encoding, done) {
      edge.logLines.push(String(line));
      done();
    },
  }),
);

/** The body of a valid prediction request. */
export const valid = {
  request_id: 'r-1',
  user_id: 'u',
  session_id: 's',
  mode: 'complete_draft',
  draft: { text: 'héllo', revision: 0 },
  context_revision: 'c',
};

/** Returns a valid request of exactly this many bytes. */
export function requestOfSize(bytes: number): string {
  const body = JSON.stringify(valid);
  return body + ' '.repeat(bytes - Buffer.byteLength(body));
}

export const bearer = { authorization: `Bearer ${key}` };
export const json = { ...bearer, 'content-type': 'application/json' };

async function start(): Promise<ListeningServer> {
  const app = createKoa({
    routes,
    parts: undefined,
    credentials,
    countRequest: async () => {},
    checksTimeoutMs: 10_000,
    takeTurn: (_, work) => work(),
    announceChanged() {},
    noteReads() {},
    refusals: { add() {} },
    trustProxy: [],
    publicUrl: 'http://localhost:8080',
    corsOrigins: [],
    sendTimeoutMs: 30_000,
    log,
    isShuttingDown: () => false,
    noteChange() {},
  });
  const listening = await listen({ host: '127.0.0.1', port: 0 });
  listening.serve(app.callback());
  return listening;
}

interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

export async function call(path: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(edge.server.url + path, { headers: bearer, ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export function post(
  path: string,
  body: string | Buffer | ReadableStream,
  headers: Record<string, string> = json,
): Promise<Reply> {
  return call(path, {
    method: 'POST',
    body,
    headers,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  });
}

/** Sends the bytes unchanged, and returns all that comes back until the connection closes. */
export async function raw(bytes: string | Buffer): Promise<string> {
  const socket = connect(edge.server.port, '127.0.0.1');
  socket.write(bytes);
  return await readAll(socket);
}

export async function readAll(socket: Socket): Promise<string> {
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  return received;
}

export function head(method: string, target: string, more: string[] = []): string {
  return [
    `${method} ${target} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${key}`,
    ...more,
    '',
    '',
  ].join('\r\n');
}

/** Sends a request with exactly this target. */
export async function rawCall(
  method: string,
  target: string,
  body = '',
): Promise<{ status: number; body: string; head: string }> {
  const more =
    body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  const answer = await raw(head(method, target, more) + body);
  const [top = '', ...rest] = answer.split('\r\n\r\n');
  return { status: Number(top.split(' ')[1]), body: rest.join('\r\n\r\n'), head: top };
}

export function assertCode({ status, headers, text }: Reply, wanted: number, code: string): void {
  assert.deepEqual([status, text], [wanted, JSON.stringify({ detail: { code } })]);
  assert.ok(checkErrorBody(JSON.parse(text)).ok);
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.ok(headers.get('x-request-id'));
  assert.ok(headers.get('x-error-source'));
}

/** Starts the server before the tests of a file, resets its state before each, and closes it after all. */
export function useEdgeServer(): void {
  before(async () => {
    edge.server = await start();
  });
  after(() => edge.server.close(100));
  beforeEach(() => {
    edge.lookUps = 0;
    edge.logLines = [];
  });
}
