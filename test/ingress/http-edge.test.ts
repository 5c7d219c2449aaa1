import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, METHODS } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import Type from 'typebox';
import { authenticateApp, type Credentials } from '../../ingress/auth/credentials.ts';
import { createApp } from '../../ingress/http/app.ts';
import { endpoint, endpointsOn } from '../../ingress/http/endpoint.ts';
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
import { newAppKey } from '../../shared/security/keys.ts';
import { until } from '../support/until.ts';

const { key, hash } = newAppKey();
const broken = newAppKey();
const principal: AppPrincipal = {
  id: 'app-1',
  fingerprintKey: Buffer.alloc(32),
  onDisconnect: 'continue',
  minConfidence: 0.3,
  disabled: [],
};

const RENDERED = '{"month": "2026-07",  "units":1.0}';
const PERSON = 'a secret text of a person';

const checkErrorBody = compile(errorBody(Object.keys(catalogue) as ErrorCode[]));

let lookUps = 0;
let shuttingDown = false;
let logLines: string[] = [];
let release: () => void = () => {};
let callerGone: Promise<void> = Promise.resolve();
let waiting: Promise<void> = Promise.resolve();

async function findApp(wanted: Buffer): Promise<AppPrincipal | undefined> {
  lookUps++;
  if (wanted.equals(broken.hash)) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  return wanted.equals(hash) ? principal : undefined;
}

/** Looks up the credential at every request, without the cache of credentials. */
const credentials: Credentials = {
  app: (headers) => authenticateApp(headers.authorization, findApp),
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

let nextWait = Promise.withResolvers<void>();
const streamClosed = Promise.withResolvers<void>();

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

/** Fields that every endpoint must declare for the OpenAPI document, which does not list the test endpoints. */
const undocumentedFields = { operationId: '', tag: 'Health', summary: '' } as const;

const v1 = endpointsOn('v1');

const routes = [
  endpointsOn('api')(
    'GET',
    '/api/recording/events/:id/',
    'none',
    endpoint('none', {
      ...undocumentedFields,
      params: { id: 'text' },
      errors: [],
      status: 200,
      response: closedObject({ id: Type.String() }),
    }).handle(async ({ params }) => ({ body: { id: params.id } })),
  ),
  v1(
    'POST',
    '/v1/predictions',
    'app',
    endpoint('app', {
      ...undocumentedFields,
      body: PredictionRequest,
      bodyLimit: 4 * MIB,
      errors: [],
      status: 200,
      response: closedObject({ request: PredictionRequest, app: Type.String() }),
    }).handle(async ({ body, app }) => ({ body: { request: body, app: app.id } })),
  ),
  v1(
    'POST',
    '/v1/predictions/:request_id/cancel',
    'app',
    endpoint('app', {
      ...undocumentedFields,
      params: { request_id: 'identifier' },
      body: SubjectRequest,
      errors: [],
      status: 200,
      response: closedObject({ request_id: Type.String() }),
    }).handle(async ({ params }) => ({ body: { request_id: params.request_id } })),
  ),
  v1(
    'GET',
    '/v1/usage',
    'app',
    endpoint('app', {
      ...undocumentedFields,
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 0 })),
        q: Type.Optional(text(9)),
      }),
      errors: [],
      status: 200,
      response: Type.Object({}),
    }).handle(async ({ headers }) => ({
      body: RENDERED,
      headers: { 'Idempotency-Replayed': 'true', 'X-Seen': String(headers['prefer']) },
    })),
  ),
  v1(
    'GET',
    '/v1/fail/:kind',
    'none',
    endpoint('none', {
      ...undocumentedFields,
      params: { kind: 'identifier' },
      errors: [],
      status: 200,
      response: Type.Object({}),
    }).handle(async ({ params }) => {
      throw FAILURES[params.kind]?.();
    }),
  ),
  v1(
    'GET',
    '/v1/stream',
    'none',
    endpoint('none', { ...undocumentedFields, errors: [], status: 200, response: Type.Object({}) }).handle(
      async () => ({ body: Readable.from(brokenLines()) }),
    ),
  ),
  v1(
    'GET',
    '/v1/endless',
    'none',
    endpoint('none', { ...undocumentedFields, errors: [], status: 200, response: Type.Object({}) }).handle(
      async () => ({ body: Readable.from(endlessLines()) }),
    ),
  ),
  v1(
    'GET',
    '/v1/wait',
    'none',
    endpoint('none', {
      ...undocumentedFields,
      errors: [],
      status: 200,
      response: Type.Object({}),
    }).handle(async ({ signal }) => {
      const released = Promise.withResolvers<void>();
      const left = Promise.withResolvers<void>();
      release = released.resolve;
      callerGone = left.promise;
      signal.addEventListener('abort', () => left.resolve());
      nextWait.resolve();
      await Promise.race([released.promise, callerGone]);
      return { body: {} };
    }),
  ),
];

const log = createLog(
  'test',
  'info',
  new Writable({
    write(line, _encoding, done) {
      logLines.push(String(line));
      done();
    },
  }),
);

let server: ListeningServer;

const valid = {
  request_id: 'r-1',
  user_id: 'u',
  session_id: 's',
  mode: 'complete_draft',
  draft: { text: 'héllo', revision: 0 },
  context_revision: 'c',
};

/** Returns a valid request of exactly this many bytes. */
function requestOfSize(bytes: number): string {
  const body = JSON.stringify(valid);
  return body + ' '.repeat(bytes - Buffer.byteLength(body));
}

const bearer = { authorization: `Bearer ${key}` };
const json = { ...bearer, 'content-type': 'application/json' };

async function start(): Promise<ListeningServer> {
  const app = createApp({
    routes,
    parts: undefined,
    credentials,
    countRequest: async () => {},
    takeTurn: (_, work) => work(),
    refusals: { add() {} },
    trustProxy: [],
    corsOrigins: [],
    sendTimeoutMs: 30_000,
    log,
    isShuttingDown: () => shuttingDown,
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

async function call(path: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(server.url + path, { headers: bearer, ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function post(
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
async function raw(bytes: string | Buffer): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(bytes);
  return await readAll(socket);
}

async function readAll(socket: Socket): Promise<string> {
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  return received;
}

function head(method: string, target: string, more: string[] = []): string {
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
async function rawCall(
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

function assertCode({ status, headers, text }: Reply, wanted: number, code: string): void {
  assert.deepEqual([status, text], [wanted, JSON.stringify({ detail: { code } })]);
  assert.ok(checkErrorBody(JSON.parse(text)).ok);
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.ok(headers.get('x-request-id'));
  assert.ok(headers.get('x-error-source'));
}

before(async () => {
  server = await start();
});
after(() => server.close(100));
beforeEach(() => {
  lookUps = 0;
  logLines = [];
  nextWait = Promise.withResolvers();
  waiting = nextWait.promise;
});

describe('200', () => {
  it("a handler gets the request's body with defaults filled in, and the app of the request's key", async () => {
    const { status, text: answer, headers } = await post('/v1/predictions', JSON.stringify(valid));
    const { request, app } = JSON.parse(answer);
    assert.deepEqual([status, app, request.language, request.draft.text], [200, 'app-1', 'auto', 'héllo']);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('x-error-source'), null);
  });

  it("an answer that a handler has rendered is sent byte for byte, with the handler's headers", async () => {
    const { text: answer, headers } = await call('/v1/usage', { headers: { ...bearer, prefer: 'wait' } });
    assert.equal(answer, RENDERED);
    assert.equal(headers.get('idempotency-replayed'), 'true');
    assert.equal(headers.get('x-seen'), 'wait');
  });

  it('HEAD is answered like GET, without a body', async () => {
    const { status, text: answer, headers } = await call('/v1/usage', { method: 'HEAD' });
    assert.deepEqual([status, answer, headers.get('content-length')], [200, '', String(RENDERED.length)]);
    assert.equal((await call('/v1/usage', { method: 'HEAD', headers: {} })).status, 401);
  });

  it('a body is accepted with the Content-Encoding `gzip`, `GZIP` or `identity`', async () => {
    const packed = gzipSync(JSON.stringify(valid));
    for (const encoding of ['gzip', 'GZIP'])
      assert.equal(
        (await post('/v1/predictions', packed, { ...json, 'content-encoding': encoding })).status,
        200,
      );
    assert.equal(
      (await post('/v1/predictions', JSON.stringify(valid), { ...json, 'content-encoding': 'identity' }))
        .status,
      200,
    );
  });

  it('the content type application/json is accepted in any case, with charset utf-8 or an unknown parameter', async () => {
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json; v=1',
    ])
      assert.equal(
        (await post('/v1/predictions', JSON.stringify(valid), { ...bearer, 'content-type': type })).status,
        200,
        type,
      );
  });

  it("a body of exactly the endpoint's size limit is accepted, compressed or not", async () => {
    const body = requestOfSize(4 * MIB);
    assert.equal((await post('/v1/predictions', body)).status, 200);
    // Adds noise, since blanks alone would compress too well to be accepted.
    const noise = randomBytes(MIB / 2).map((byte) => (byte % 2 === 0 ? 0x20 : 0x0a));
    const packed = gzipSync(Buffer.concat([noise, Buffer.from(requestOfSize(4 * MIB - noise.length))]));
    assert.equal(
      (await post('/v1/predictions', packed, { ...json, 'content-encoding': 'gzip' })).status,
      200,
    );
  });

  it('an id in the path is percent-decoded once, and dot segments are not resolved', async () => {
    const ids = {
      'a%3Ab': 'a:b',
      'a:b': 'a:b',
      '..': '..',
      '%2e%2E': '..',
      '.': '.',
      [`${'x'.repeat(80)}`]: 'x'.repeat(80),
    };
    for (const [sent, id] of Object.entries(ids)) {
      const { status, body } = await rawCall('POST', `/v1/predictions/${sent}/cancel`, '{"user_id":"u"}');
      assert.deepEqual([status, body], [200, JSON.stringify({ request_id: id })], sent);
    }
  });

  it('unknown query parameters are ignored', async () => {
    assert.equal((await call('/v1/usage?x=%ZZ&__proto__=1')).status, 200);
  });

  it('a URL or headers of nearly 16 KiB are accepted', async () => {
    assert.equal((await rawCall('GET', `/v1/usage?${'x'.repeat(16_000)}`)).status, 200);
    assert.match(await raw(head('GET', '/v1/usage', [`X: ${'x'.repeat(16_000)}`])), /^HTTP\/1.1 200 /);
  });
});

describe('400', () => {
  const code = 'invalid_json';

  it('a body that is empty or not JSON is 400 invalid_json', async () => {
    for (const body of ['', ' ', '{', '{"a":1}}', "{'a':1}", 'NaN', '\u0000'])
      assertCode(await post('/v1/predictions', body), 400, code);
  });

  it('a request without a body is 400 invalid_json', async () => {
    const answer = await raw(head('POST', '/v1/predictions', ['Content-Type: application/json']));
    assert.match(answer, /^HTTP\/1.1 400 [\s\S]*\{"detail":\{"code":"invalid_json"\}\}$/);
  });

  it('a body that is not UTF-8 is 400 invalid_json', async () => {
    const bytes = Buffer.from(JSON.stringify(valid), 'latin1');
    assertCode(await post('/v1/predictions', bytes), 400, code);
    assertCode(await post('/v1/predictions', Buffer.from('{"user_id":"\xed\xa0\x80"}', 'latin1')), 400, code);
  });

  it('a body with broken compression is 400 invalid_json', async () => {
    const packed = gzipSync(JSON.stringify(valid));
    const damaged = Buffer.from(packed);
    damaged.writeUInt8(damaged.readUInt8(20) ^ 0xff, 20);
    for (const body of [
      damaged,
      packed.subarray(0, -9),
      Buffer.from('plain'),
      Buffer.alloc(0),
      JSON.stringify(valid),
    ])
      assertCode(await post('/v1/predictions', body, { ...json, 'content-encoding': 'gzip' }), 400, code);
  });

  it('a body of another content type or charset, or compressed with anything but gzip, is 400 invalid_content_type', async () => {
    const body = JSON.stringify(valid);
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json-patch+json',
      'application/vnd.api+json',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'nonsense',
    ];
    for (const type of types)
      assertCode(
        await post('/v1/predictions', body, { ...bearer, 'content-type': type }),
        400,
        'invalid_content_type',
      );
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'x'])
      assertCode(
        await post('/v1/predictions', deflateSync(body), { ...json, 'content-encoding': encoding }),
        400,
        'invalid_content_type',
      );
    assertCode(await post('/v1/predictions', Buffer.from(body), bearer), 400, 'invalid_content_type');
  });

  it('a body with a wrong content type and invalid JSON is 400 invalid_content_type', async () => {
    assertCode(
      await post('/v1/predictions', '{', { ...bearer, 'content-type': 'text/plain' }),
      400,
      'invalid_content_type',
    );
  });

  it('input that is not HTTP, or has an unknown method, gets 400 without a body, and its connection is closed', async () => {
    for (const bytes of ['nonsense\r\n\r\n', 'FOO /v1/usage HTTP/1.1\r\nHost: x\r\n\r\n']) {
      const answer = await raw(bytes);
      assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n/);
      assert.match(answer, /\r\nX-Request-Id: \S+\r\n\r\n$/);
    }
  });

  it('a request with no or two Host headers, or an unsupported HTTP version, is 400 invalid_request', async () => {
    const [top = '', ...rest] = head('GET', '/v1/usage').split('\r\n');
    const requests = [
      head('GET', '/v1/usage', ['Host: y']),
      head('GET', '/v1/usage', ['host: x']),
      [top, ...rest.filter((line) => !/^host:/i.test(line))].join('\r\n'),
      ...['', ' HTTP/0.9', ' HTTP/2.0'].map((version) =>
        [top.replace(' HTTP/1.1', version), ...rest].join('\r\n'),
      ),
    ];
    for (const request of requests) {
      const answer = await raw(request);
      assert.match(answer, /^HTTP\/1.1 400 [\s\S]*\{"detail":\{"code":"invalid_request"\}\}$/, request);
    }
    assert.match(await raw([top.replace('1.1', '1.0'), ...rest].join('\r\n')), /^HTTP\/1.1 200 /);
  });

  it('a body that arrives byte by byte is accepted, compressed or not', async () => {
    const plain = Buffer.from(JSON.stringify(valid));
    for (const [encoding, bytes] of [
      ['identity', plain],
      ['gzip', gzipSync(plain)],
    ] as const) {
      const top = head('POST', '/v1/predictions', [
        'Content-Type: application/json',
        `Content-Encoding: ${encoding}`,
        'Transfer-Encoding: chunked',
      ]);
      const chunks = [...bytes].flatMap((byte) => [
        Buffer.from('1\r\n'),
        Buffer.of(byte),
        Buffer.from('\r\n'),
      ]);
      const answer = await raw(Buffer.concat([Buffer.from(top), ...chunks, Buffer.from('0\r\n\r\n')]));
      assert.match(answer, /^HTTP\/1.1 200 /);
    }
  });

  it('a connection stays usable after a body with broken compression is refused before all of it has arrived', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const packed = Buffer.concat([Buffer.from('nothing packed'), Buffer.alloc(MIB)]);
    const more = [
      'Content-Type: application/json',
      'Content-Encoding: gzip',
      `Content-Length: ${packed.length}`,
    ];
    socket.write(head('POST', '/v1/predictions', more).replace('Connection: close\r\n', ''));
    socket.write(packed);
    const [first] = await once(socket, 'data');
    assert.match(String(first), /^HTTP\/1.1 400 [\s\S]*"invalid_json"/);
    socket.write(head('GET', '/v1/usage'));
    assert.match(await readAll(socket), /^HTTP\/1.1 200 /);
  });

  it('a body that breaks off or has broken chunks is not logged as a defect, and other requests are still answered', async () => {
    const chunked = head('POST', '/v1/predictions', [
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]);
    assert.match(await raw(`${chunked}zz\r\n`), /^HTTP\/1.1 400 /);
    for (const encoding of ['identity', 'gzip']) {
      const socket = connect(server.port, '127.0.0.1');
      const more = ['Content-Type: application/json', 'Content-Length: 100', `Content-Encoding: ${encoding}`];
      socket.write(`${head('POST', '/v1/predictions', more)}{"a"`);
      await sleep(50);
      socket.destroy();
      await sleep(50);
    }
    assert.equal((await call('/v1/usage')).status, 200);
    assert.ok(!logLines.some((line) => line.includes('defect')), logLines.join(''));
  });
});

describe('401', () => {
  it('a request without a key is 401 invalid_app_key, with WWW-Authenticate: Bearer', async () => {
    const reply = await call('/v1/usage', { headers: {} });
    assertCode(reply, 401, 'invalid_app_key');
    assert.equal(reply.headers.get('www-authenticate'), 'Bearer');
  });

  it('a credential that cannot be an app key is 401 invalid_app_key without a look-up', async () => {
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      key,
      `Basic ${key}`,
      `Bearer ${typo}`,
      `Bearer ${key} x`,
      `Bearer${key}`,
    ])
      assertCode(await call('/v1/usage', { headers: { authorization } }), 401, 'invalid_app_key');
    assert.equal(lookUps, 0);
  });

  it('a well-formed but unknown app key is 401 invalid_app_key', async () => {
    assertCode(
      await call('/v1/usage', { headers: { authorization: `Bearer ${newAppKey().key}` } }),
      401,
      'invalid_app_key',
    );
    assert.equal(lookUps, 1);
  });

  it('the scheme Bearer in an Authorization header may have any case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'bEaReR'])
      assert.equal((await call('/v1/usage', { headers: { authorization: `${scheme} ${key}` } })).status, 200);
  });

  it('a request without an app key is 401 invalid_app_key, even if its body is too large or not JSON', async () => {
    for (const [body, type] of [
      ['x'.repeat(5 * MIB), 'text/plain'],
      ['{', 'application/json'],
    ] as const)
      assertCode(await post('/v1/predictions', body, { 'content-type': type }), 401, 'invalid_app_key');
  });
});

describe('404', () => {
  it('an unknown path is 404 not_found for GET, POST, OPTIONS and DELETE, even without a credential', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE'])
      assertCode(await call('/v1/nowhere', { method, headers: {} }), 404, 'not_found');
    assertCode(await call('/', { headers: {} }), 404, 'not_found');
  });

  it('a path in another case, with a trailing or doubled slash or an encoded letter is 404 not_found', async () => {
    for (const path of [
      '/V1/usage',
      '/v1/Usage',
      '/v1/usage/',
      '//v1/usage',
      '/v1//usage',
      '/v1/us%61ge',
      '/v1/x/../usage',
    ])
      assert.equal((await rawCall('GET', path)).status, 404, path);
  });

  it('an event id under /api that is malformed or longer than 200 characters is 404 not_found', async () => {
    for (const id of ['100%', 'a%zz', 'x'.repeat(201)])
      assert.equal((await rawCall('GET', `/api/recording/events/${id}/`)).status, 404, id);
    assert.equal((await rawCall('GET', '/api/recording/events/100%25/')).status, 200);
  });

  it('a malformed request id in the path is 404 not_found', async () => {
    for (const id of [
      'a%2Fb',
      '%ZZ',
      '%',
      '%E0%A4',
      '%C3%A9',
      '%00',
      'a%20b',
      '%253A',
      'x'.repeat(81),
      '%2e%2e%2f',
    ])
      assert.equal(
        (await rawCall('POST', `/v1/predictions/${id}/cancel`, '{"user_id":"u"}')).status,
        404,
        id,
      );
    assert.equal((await rawCall('POST', '/v1/predictions//cancel')).status, 404);
  });

  it('a request target without a valid path is 404 not_found', async () => {
    for (const target of ['*', 'http://[/v1/usage', 'http://a:b/v1/usage']) {
      const { status, body } = await rawCall('OPTIONS', target);
      assert.deepEqual([status, body], [404, '{"detail":{"code":"not_found"}}'], target);
    }
  });
});

describe('405', () => {
  it('a method that the endpoint lacks is 405 with an Allow header, before the credential is checked', async () => {
    const reply = await call('/v1/usage', { method: 'POST', headers: {} });
    assertCode(reply, 405, 'method_not_allowed');
    assert.equal(reply.headers.get('allow'), 'GET, HEAD');
    assert.equal((await call('/v1/predictions', { headers: {} })).headers.get('allow'), 'POST');
  });

  it('every method that Node can parse and the endpoint lacks is 405', async () => {
    for (const method of METHODS.filter((name) => !['GET', 'HEAD'].includes(name)))
      assert.equal((await rawCall(method, method === 'CONNECT' ? 'x:443' : '/v1/usage')).status, 405, method);
  });

  it('the 405 to CONNECT has an empty Allow header', async () => {
    assert.match((await rawCall('CONNECT', 'x:443')).head, /^Allow: ?$/m);
  });

  it('a client that resets its connection after CONNECT does not stop the server', async () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    socket.write(head('CONNECT', 'x:443'));
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1.1 405 /);
    socket.resetAndDestroy();
    await once(socket, 'close');
    for (let n = 0; n < 3; n += 1) assert.equal((await rawCall('GET', '/v1/usage')).status, 200);
  });

  it('HEAD to an endpoint without GET is 405, without a body', async () => {
    const { status, text: answer } = await call('/v1/predictions', { method: 'HEAD' });
    assert.deepEqual([status, answer], [405, '']);
  });
});

describe('413', () => {
  const big = requestOfSize(4 * MIB + 1);

  it('a body that is too large by its Content-Length is 413 body_too_large at once, and the connection closes', async () => {
    const announce = async (encoding: string) => {
      const socket = connect(server.port, '127.0.0.1');
      const more = [
        'Content-Type: text/plain',
        `Content-Encoding: ${encoding}`,
        `Content-Length: ${2 ** 32}`,
      ];
      socket.write(head('POST', '/v1/predictions', more).replace('Connection: close\r\n', ''));
      const [first] = await Promise.race([once(socket, 'data'), sleep(500).then(() => ['nothing'])]);
      assert.match(String(first), /^HTTP\/1.1 413 [\s\S]*connection: close[\s\S]*"body_too_large"\}\}$/i);
      await once(socket, 'close');
    };
    await Promise.all([announce('identity'), announce('gzip')]);
  });

  it('a client that writes all of a too large body before it reads still gets the 413', async () => {
    for (let i = 0; i < 10; i++)
      assertCode(await post('/v1/predictions', 'x'.repeat(16 * MIB)), 413, 'body_too_large');
  });

  it('after a client has sent all of a too large body, its connection closes within 0.8 s of the 413', async () => {
    for (const content of [Buffer.alloc(5 * MIB), randomBytes(16 * MIB)]) {
      const times: number[] = [];
      // Takes the fastest of three: on a busy machine, the server may close before it has read all of the body.
      for (let n = 0; n < 3; n += 1) times.push(await timeToClose(content).catch(infinityIfCut));
      assert.ok(Math.min(...times) < 800, `${times} ms`);
    }

    async function timeToClose(content: Buffer): Promise<number> {
      const packed = gzipSync(content);
      const more = ['Content-Type: application/json', 'Content-Encoding: gzip', 'Transfer-Encoding: chunked'];
      const top = `${head('POST', '/v1/predictions', more)}${packed.length.toString(16)}\r\n`;
      const socket = connect(server.port, '127.0.0.1');
      socket.write(Buffer.concat([Buffer.from(top), packed, Buffer.from('\r\n0\r\n\r\n')]));
      const answer = readAll(socket);
      await once(socket, 'data');
      const begin = performance.now();
      assert.match(await answer, /^HTTP\/1.1 413 /);
      return performance.now() - begin;
    }

    function infinityIfCut(error: NodeJS.ErrnoException): number {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error;
      return Number.POSITIVE_INFINITY;
    }
  });

  it('a body without Content-Length that is too large is 413 body_too_large', async () => {
    const stream = () => new Blob([big]).stream();
    const reply = await post('/v1/predictions', stream());
    assertCode(reply, 413, 'body_too_large');
    assert.equal(reply.headers.get('connection'), 'close');
    assertCode(
      await post('/v1/predictions', stream(), { ...bearer, 'content-type': 'text/plain' }),
      413,
      'body_too_large',
    );
  });

  it('a body that is too large once decompressed is 413 body_too_large, however small its compressed size', async () => {
    const bombs = [gzipSync(big), gzipSync(Buffer.alloc(300 * MIB))];
    for (const bomb of bombs)
      assertCode(
        await post('/v1/predictions', bomb, { ...json, 'content-encoding': 'gzip' }),
        413,
        'body_too_large',
      );
  });

  it('a body over 256 KiB is 413 body_too_large unless the endpoint declares another limit', async () => {
    const body = (bytes: number) => '{"user_id":"u"}'.padEnd(bytes);
    assert.equal((await post('/v1/predictions/r/cancel', body(256 * 1024))).status, 200);
    assertCode(await post('/v1/predictions/r/cancel', body(256 * 1024 + 1)), 413, 'body_too_large');
  });
});

describe('refusals by the HTTP parser', () => {
  /** Two lengths that Node's parser accepts, and one that it refuses. */
  const LENGTHS = [17_000, 60_000, 100_000];

  function assertBody(answer: string, status: string, code: ErrorCode): void {
    const [top = '', text] = answer.split('\r\n\r\n');
    assert.match(top, new RegExp(`^HTTP/1.1 ${status}\r\n`));
    assert.match(top, /\r\nContent-Type: application\/json; charset=utf-8(\r\n|$)/i);
    assert.match(top, /\r\nX-Error-Source: ingress(\r\n|$)/i);
    assert.match(top, /\r\nX-Request-Id: \S+(\r\n|$)/i);
    assert.equal(text, JSON.stringify({ detail: { code } }));
  }

  for (const length of LENGTHS) {
    it(`a URL of ${length} characters is 414 uri_too_long`, async () => {
      const answer = await raw(head('GET', `/v1/usage?${'x'.repeat(length)}`));
      assertBody(answer, '414 URI Too Long', 'uri_too_long');
    });

    it(`headers of ${length} characters are 431 headers_too_large`, async () => {
      const many = Array.from({ length: length / 1000 }, (_, n) => `X-${n}: ${'x y '.repeat(250)}`);
      for (const headers of [[`X: ${'x y '.repeat(length / 4)}`], many])
        assertBody(
          await raw(head('GET', '/v1/usage', headers)),
          '431 Request Header Fields Too Large',
          'headers_too_large',
        );
    });
  }

  it('the 414 for a URL that is too long has a message if the path is under /api', async () => {
    const { status, body } = await rawCall('GET', `/api/auth/me/?${'x'.repeat(17_000)}`);
    const { message } = catalogue.uri_too_long;
    assert.deepEqual([status, JSON.parse(body)], [414, { detail: { code: 'uri_too_long', message } }]);
  });

  it('an error under /api has a message even if the request target includes the host', async () => {
    for (const [target, status] of [
      ['http://x/api/nowhere/', 404],
      ['HTTP://x/api/nowhere/', 404],
      ['http://[/api/auth/me/', 404],
      [`http://x/api/auth/me/?${'x'.repeat(17_000)}`, 414],
      [`http://x/api/auth/me/?${'x'.repeat(60_000)}`, 414],
    ] as const) {
      const answer = await rawCall('GET', target);
      const { code, message } = JSON.parse(answer.body).detail;
      assert.deepEqual([answer.status, message], [status, catalogue[code as ErrorCode].message], target);
    }
    const answer = await raw(head('GET', 'http://x/api/auth/me/', [`X: ${'x '.repeat(50_000)}`]));
    assert.match(answer, /^HTTP\/1.1 431 /);
  });

  it('an Expect header other than 100-continue is 417 expectation_failed', async () => {
    const answer = await raw(head('GET', '/v1/usage', ['Expect: something']));
    assertBody(answer, '417 Expectation Failed', 'expectation_failed');
  });

  it('headers that take more than ten seconds to arrive are 408 request_timeout', async () => {
    assertBody(await raw('GET /v1/usage HTTP/1.1\r\n'), '408 Request Timeout', 'request_timeout');
  }).timeout(15_000);
});

describe('503 overloaded', () => {
  const size = 4 * MIB;
  const top = (more: string[] = []) =>
    head('POST', '/v1/predictions', ['Content-Type: application/json', ...more]);

  it('a body for which no memory is free for two seconds is 503 overloaded, and its connection stays usable', async () => {
    const stalled = Array.from({ length: 4 }, () => {
      const socket = connect(server.port, '127.0.0.1');
      socket.write(top([`Content-Length: ${size}`]));
      return socket;
    });
    await call('/v1/usage');
    const body = requestOfSize(size);
    const packed = { ...json, 'content-encoding': 'gzip' };
    const replies = await Promise.all([
      post('/v1/predictions', body),
      post('/v1/predictions', gzipSync(body), packed),
      post('/v1/predictions', new Blob([body]).stream()),
    ]);
    for (const reply of replies) {
      assertCode(reply, 503, 'overloaded');
      assert.equal(reply.headers.get('retry-after'), '1');
      assert.notEqual(reply.headers.get('connection'), 'close');
    }
    assert.equal((await post('/v1/predictions', requestOfSize(16 * 1024))).status, 200);
    const waiting = post('/v1/predictions', body);
    for (const socket of stalled) socket.destroy();
    assert.equal((await waiting).status, 200);
  });
});

describe('422', () => {
  it('a 422 lists each invalid field of the body', async () => {
    const body = JSON.stringify({ ...valid, mode: 'x', draft: { revision: -1 }, extra: 1 });
    const { status, text: answer, headers } = await post('/v1/predictions', body);
    assert.equal(status, 422);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(headers.get('cache-control'), 'no-store');
    const { detail } = JSON.parse(answer);
    assert.deepEqual(Object.keys(JSON.parse(answer)), ['detail']);
    const places = detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`);
    assert.deepEqual(places.sort(), [
      'body.draft.revision greater_than_equal',
      'body.draft.text missing',
      'body.extra extra_forbidden',
      'body.mode enum',
    ]);
  });

  it('a JSON body that is not an object is 422 dict_type', async () => {
    for (const body of ['[]', 'null', '3', '"x"']) {
      const { status, text: answer } = await post('/v1/predictions', body);
      assert.equal(status, 422, body);
      const [{ loc, type }] = JSON.parse(answer).detail;
      assert.deepEqual([loc, type], [['body'], 'dict_type'], body);
    }
  });

  it('an invalid or repeated query value gets a 422 that names the query parameter', async () => {
    for (const query of ['limit=x', 'limit=1&limit=2', 'limit=-1', 'limit=', 'limit=0x10']) {
      const { status, text: answer } = await call(`/v1/usage?${query}`);
      assert.equal(status, 422, query);
      const [{ loc, type }] = JSON.parse(answer).detail;
      assert.deepEqual(
        [loc, type],
        [['query', 'limit'], query === 'limit=-1' ? 'greater_than_equal' : 'int_type'],
      );
    }
    assert.equal((await call('/v1/usage?q=%00')).status, 422);
  });
});

describe('other errors', () => {
  it("an error's answer has its status, its code, an X-Error-Source and, if a retry can help, a Retry-After", async () => {
    const expected = [
      ['conflict', 409, 'request_in_flight', 'ingress', '1'],
      ['provider', 503, 'provider_rate_limited', 'provider', '3'],
      ['soon', 503, 'service_unavailable', 'ingress', '1'],
      ['cancelled', 499, 'prediction_cancelled', 'worker', null],
      ['timeout', 504, 'prediction_timeout', 'worker', null],
      ['database', 503, 'service_unavailable', 'ingress', '1'],
      ['locked', 503, 'service_unavailable', 'ingress', '1'],
      ['pool', 503, 'service_unavailable', 'ingress', '1'],
      ['deadlock', 503, 'service_unavailable', 'ingress', '1'],
      ['defect', 500, 'internal_error', 'ingress', null],
      ['row', 500, 'internal_error', 'ingress', null],
      ['nothing', 500, 'internal_error', 'ingress', null],
    ] as const;
    for (const [kind, status, code, source, retryAfter] of expected) {
      const reply = await call(`/v1/fail/${kind}`);
      assertCode(reply, status, code);
      assert.deepEqual(
        [reply.headers.get('x-error-source'), reply.headers.get('retry-after')],
        [source, retryAfter],
        kind,
      );
    }
  });

  it('a request is 503 service_unavailable if the look-up of its app key fails', async () => {
    assertCode(
      await call('/v1/usage', { headers: { authorization: `Bearer ${broken.key}` } }),
      503,
      'service_unavailable',
    );
  });

  it('a database fault is logged as an outage, a lock timeout or a conflict of transactions', async () => {
    const messageOf = async (kind: string) => {
      logLines = [];
      await call(`/v1/fail/${kind}`);
      return JSON.parse(logLines[0] ?? '{}').msg;
    };
    assert.equal(await messageOf('database'), 'database unreachable');
    assert.equal(await messageOf('locked'), 'lock timeout');
    assert.equal(await messageOf('deadlock'), 'transaction conflict');
  });

  it('an error that breaks off a streamed answer is logged with its stack and request id', async () => {
    const response = await fetch(`${server.url}/v1/stream`);
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    const defect = JSON.parse(logLines.find((line) => line.includes('"defect"')) ?? '{}');
    assert.equal(defect.requestId, response.headers.get('x-request-id'));
    assert.match(defect.err.stack, /http-edge\.test\.ts/);
  });

  it('a caller that disconnects from a streamed answer is not logged as an error', async () => {
    const gone = new AbortController();
    const response = await fetch(`${server.url}/v1/endless`, { signal: gone.signal });
    gone.abort();
    await assert.rejects(response.text());
    await streamClosed.promise;
    await call('/v1/usage');
    assert.deepEqual(
      logLines.map((line) => JSON.parse(line).msg),
      ['request', 'request'],
    );
  });

  it('an internal error is logged with its stack and request id, but without texts of a database row', async () => {
    const reply = await call('/v1/fail/defect');
    await call('/v1/fail/row');
    const defect = JSON.parse(logLines.find((line) => line.includes('"defect"')) ?? '{}');
    assert.equal(defect.requestId, reply.headers.get('x-request-id'));
    assert.match(defect.err.stack, /http-edge\.test\.ts/);
    assert.equal(defect.err.message, 'undefined is not a function');
    assert.equal(logLines.filter((line) => line.includes('"defect"')).length, 2);
    assert.ok(!logLines.join('').includes(PERSON));
  });
});

describe('every request', () => {
  it("every request keeps its caller's X-Request-Id if that is well-formed, and otherwise gets a new id", async () => {
    const id = async (sent: string) =>
      (await call('/v1/usage', { headers: { ...bearer, 'x-request-id': sent } })).headers.get('x-request-id');
    assert.equal(await id('abc.DEF_1:2-3'), 'abc.DEF_1:2-3');
    assert.equal(await id('x'.repeat(80)), 'x'.repeat(80));
    for (const odd of ['', 'a b', 'x'.repeat(81), 'a"b', 'é', '{"a":1}']) {
      const given = await id(odd);
      assert.notEqual(given, odd);
      assert.match(given ?? '', /^[0-9a-f-]{36}$/);
    }
  });

  it('every request logs one access line, with the pattern of its route, but without its path, query or body', async () => {
    await post(
      '/v1/predictions/secret-id/cancel?q=secret-query',
      '{"user_id":"secret-user","x":"secret-extra"}',
    );
    assert.equal(logLines.length, 1);
    const line = JSON.parse(logLines[0] ?? '{}');
    assert.deepEqual(
      [line.method, line.route, line.status, line.appId, line.errorCode],
      ['POST', '/v1/predictions/:request_id/cancel', 422, 'app-1', 'validation_error'],
    );
    assert.equal(typeof line.durationMs, 'number');
    assert.ok(line.requestId);
    assert.ok(!logLines.join('').includes('secret'));
    assert.ok(!logLines.join('').includes(key));
  });

  it('a 404 for the path and a 405 for the method log one access line each, without the unknown path', async () => {
    await call('/v1/secret-path');
    await call('/v1/usage', { method: 'DELETE' });
    const parsed = logLines.map((line) => JSON.parse(line));
    assert.deepEqual(
      parsed.map(({ route, errorCode }) => [route, errorCode]),
      [
        [undefined, 'not_found'],
        ['/v1/usage', 'method_not_allowed'],
      ],
    );
    assert.ok(!logLines.join('').includes('secret'));
  });
});

describe('disconnecting callers', () => {
  it("a caller that disconnects aborts the handler's signal", async () => {
    const request = httpRequest(`${server.url}/v1/wait`).on('error', () => {});
    request.end();
    await waiting;
    request.destroy();
    await callerGone;
  });

  it("answering a caller does not abort the handler's signal", async () => {
    const reply = call('/v1/wait');
    await waiting;
    const left = callerGone.then(() => 'gone');
    release();
    assert.equal((await reply).status, 200);
    assert.equal(await Promise.race([left, sleep(100).then(() => 'served')]), 'served');
  });
});

describe('server shutdown', () => {
  afterEach(() => {
    shuttingDown = false;
  });

  it('a stopping server answers running requests with Connection: close, and accepts no new connection', async () => {
    const other = await start();
    const reply = fetch(`${other.url}/v1/wait`);
    await waiting;
    shuttingDown = true;
    const closed = other.close(5000);
    await until(() =>
      fetch(`${other.url}/v1/usage`).then(
        () => false,
        () => true,
      ),
    );
    release();
    const response = await reply;
    assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
    await closed;
  });

  it('a stopping server still answers a request sent on a kept-alive connection, with Connection: close', async () => {
    const other = await start();
    const kept = connect(other.port, '127.0.0.1');
    kept.write('GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(kept, 'data');
    shuttingDown = true;
    const closed = other.close(5000);
    kept.write('GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(await readAll(kept), /^HTTP\/1.1 404 .*\r\nconnection: close\r\n/is);
    await closed;
  });

  it('a stopping server keeps idle connections open for as long as requests arrive on others', async () => {
    const other = await start();
    const request = 'GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n';
    const connections = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const kept = connect(other.port, '127.0.0.1');
        kept.write(request);
        await once(kept, 'data');
        return { kept, answer: readAll(kept) };
      }),
    );
    shuttingDown = true;
    const closed = other.close(5000);
    for (const { kept, answer } of connections) {
      // Shorter than the quiet time after which the server closes idle connections.
      await sleep(200);
      kept.write(request);
      assert.match(await answer, /^HTTP\/1.1 404 .*\r\nconnection: close\r\n/is);
    }
    await closed;
  });

  it('a stopping server does not wait for idle connections', async () => {
    const other = await start();
    const idle = connect(other.port, '127.0.0.1');
    idle.on('error', () => {});
    await once(idle, 'connect');
    await (await fetch(`${other.url}/v1/nowhere`)).text();
    const begin = performance.now();
    await other.close(5000);
    assert.ok(performance.now() - begin < 1000);
  });

  it('a stopping server closes a kept-alive connection soon after its running request is answered', async () => {
    const other = await start();
    const reply = fetch(`${other.url}/v1/wait`);
    await waiting;
    const closed = other.close(5000);
    release();
    assert.equal((await reply).headers.get('connection'), 'keep-alive');
    const begin = performance.now();
    await closed;
    assert.ok(performance.now() - begin < 1000);
  });

  it('a stopping server aborts requests that run longer than the grace period', async () => {
    const other = await start();
    const reply = assert.rejects(fetch(`${other.url}/v1/wait`));
    await waiting;
    const begin = performance.now();
    await other.close(300);
    assert.ok(performance.now() - begin >= 290);
    await reply;
    await callerGone;
  });

  it('starting a server fails if its port is taken', async () => {
    await assert.rejects(listen({ host: '127.0.0.1', port: server.port }), { code: 'EADDRINUSE' });
  });
});
