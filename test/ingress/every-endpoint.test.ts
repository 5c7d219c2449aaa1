import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { SignJWT } from 'jose';
import type { Endpoint, ParamKind } from '../../ingress/http/endpoint.ts';
import { readExamples } from '../../ingress/openapi/committed.ts';
import { errorResponses } from '../../ingress/openapi/errors.ts';
import { endpoints as declared } from '../../ingress/routes/index.ts';
import { newId } from '../../shared/ids.ts';
import type { ValidationErrorBody } from '../../shared/schemas/errors.ts';
import { BODY_BYTES_MAX, SMALL_BODY_BYTES_MAX } from '../../shared/schemas/limits.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, fetchPublished } from '../support/client.ts';
import { assertPublished } from '../support/client-contract.ts';
import { useOwnServer } from '../support/own-server.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const examples = readExamples();

const JWT_SECRET = 'a secret of this test, of 32 bytes or more';
const PUBLIC_URL = 'https://forecue.example';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Every declared endpoint, so that new endpoints are tested too. */
const endpoints = declared.map((endpoint) => ({
  ...endpoint,
  name: `${endpoint.method} ${endpoint.path}`,
  published: errorResponses(endpoint),
}));
type TestedEndpoint = (typeof endpoints)[number];

const needsDatabase = ({ published }: TestedEndpoint) =>
  JSON.stringify(published[503] ?? {}).includes('"service_unavailable"');

/** Stalled bodies, by path, that fill one sender's share of the memory for bodies. */
const STALLED_BODIES_PER_SHARE = { '/v1/predictions': 4, '/api/recording/events/': 1 };

/** An installation with an app and a user that may call it. */
interface Installation {
  system: System;
  url: string;
  app: AppClient;
  user: UserClient;
}

async function install(env: Record<string, string> = {}): Promise<Installation> {
  const system = await startSystem({ workers: 0, env: { JWT_SECRET, PUBLIC_URL, ...env } });
  const [app, user] = await Promise.all([system.app(), signUp(system)]);
  return { system, url: app.url, app, user };
}

describe('every endpoint', () => {
  let at: Installation;
  let serviceKey: string;

  before(async () => {
    at = await install();
    const issued = await at.user.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'test' });
    serviceKey = issued.body.key;
  });
  after(() => at.system.stop());

  for (const endpoint of endpoints.filter(({ credential }) => credential !== 'none')) {
    const { name, credential } = endpoint;
    const code = credential === 'app' ? 'invalid_app_key' : 'not_authenticated';

    it(`${name} is 401 without a credential, with another kind of credential, and with one in the wrong header`, async () => {
      const { app, user } = at;
      const others =
        credential === 'app'
          ? [bearer(user.access), bearer(serviceKey), { 'x-service-api-key': serviceKey }]
          : [bearer(app.key), bearer(serviceKey), { 'x-service-api-key': user.access }];
      for (const headers of [{}, ...others]) {
        const reply = await send(at, endpoint, { headers });
        await assertRefused(reply, endpoint, 401, code);
        assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/);
      }
    });

    it(`${name} is 400 with two Authorization headers`, async () => {
      const { authorization = '' } = credentialFor(at, endpoint);
      await assertInvalidRequest(at, endpoint, ['Authorization', authorization]);
    });

    if (endpoint.requestHeaders?.includes('Idempotency-Key'))
      it(`${name} is 400 with two Idempotency-Key headers`, async () => {
        await assertInvalidRequest(at, endpoint, ['Idempotency-Key', 'a', 'Idempotency-Key', 'b']);
      });

    if (credential === 'user')
      it(`${name} is 401 token_expired with an expired access token`, async () => {
        const headers = bearer(await expiredToken(at.user.id));
        await assertRefused(await send(at, endpoint, { headers }), endpoint, 401, 'token_expired');
      });
  }

  for (const endpoint of endpoints.filter(({ body }) => body !== undefined)) {
    const { name } = endpoint;

    it(`${name} is 400 for a body that is not JSON, and for a body of another content type`, async () => {
      const headers = credentialFor(at, endpoint);
      const notJson = await send(at, endpoint, { headers: { ...headers, ...JSON_TYPE }, body: '{' });
      await assertRefused(notJson, endpoint, 400, 'invalid_json');
      const otherHeaders = { ...headers, 'content-type': 'text/plain' };
      const otherType = await send(at, endpoint, { headers: otherHeaders, body: '{}' });
      await assertRefused(otherType, endpoint, 400, 'invalid_content_type');
    });

    it(`${name} is 422 with a list of validation errors for a body of the wrong shape`, async () => {
      const headers = { ...credentialFor(at, endpoint), ...JSON_TYPE };
      const reply = await send(at, endpoint, { headers, body: '{"nonsense":1}' });
      assert.equal(reply.status, 422);
      const { detail } = (await reply.json()) as ValidationErrorBody;
      assert.ok(detail.length > 0);
      for (const { loc } of detail) assert.equal(loc[0], 'body');
    });

    it(`${name} is 413 for a body over the endpoint's size limit, even before the body arrives`, async () => {
      const request = announce(at, endpoint, { over: 1 });
      const [response]: IncomingMessage[] = await once(request, 'response');
      assert.equal((await readPublished(at, endpoint, response)).status, 413);
      request.destroy();
    });
  }

  describe('full share of a sender', () => {
    const stalled: ClientRequest[] = [];
    before(async () => {
      for (const [path, bodies] of Object.entries(STALLED_BODIES_PER_SHARE)) {
        const endpoint = endpoints.find((one) => one.method === 'POST' && one.path === path);
        assert.ok(endpoint);
        for (let i = 0; i < bodies; i += 1) stalled.push(announce(at, endpoint));
      }
      // These answers show that the ingress has received all stalled requests.
      await Promise.all([at.app.usage(), at.user.request('GET', '/api/auth/me/')]);
    });
    after(() => {
      for (const request of stalled) request.destroy();
    });

    it('endpoints with a large body limit are 503 overloaded while other bodies of the sender fill its share of memory', async () => {
      const withBody = endpoints.filter(
        ({ body, bodyLimit }) => body !== undefined && bodyLimit !== SMALL_BODY_BYTES_MAX,
      );
      await Promise.all(
        withBody.map(async (endpoint) => {
          const request = announce(at, endpoint);
          const [response]: IncomingMessage[] = await once(request, 'response');
          const { status, body } = await readPublished(at, endpoint, response);
          const { detail } = JSON.parse(body);
          assert.deepEqual([status, detail.code], [503, 'overloaded'], endpoint.name);
          assert.match(response?.headers['retry-after'] ?? '', /^[1-9]/);
          request.destroy();
        }),
      );
      // The log shows which routes were answered with `overloaded`.
      const lines = () =>
        (at.system.webs[0]?.log ?? '').split('\n').filter((line) => line.includes('"overloaded"'));
      await until(() =>
        withBody.every(({ path }) => lines().some((line) => line.includes(`"route":"${path}"`))),
      );
    });
  });

  for (const endpoint of endpoints.filter(({ query, published }) => query !== undefined && 422 in published))
    it(`${endpoint.name} is 422 for an invalid query value`, async () => {
      for (const parameter of Object.keys(endpoint.query?.properties ?? {})) {
        const path = `${pathOf(endpoint)}?${parameter}=%00`;
        const { method } = endpoint;
        const reply = await fetchPublished(at.url + path, { method, headers: credentialFor(at, endpoint) });
        assert.equal(reply.status, 422);
        const { detail } = (await reply.json()) as ValidationErrorBody;
        assert.deepEqual(detail[0]?.loc, ['query', parameter]);
      }
    });

  for (const endpoint of endpoints.filter(({ method }) => method === 'GET'))
    it(`${endpoint.name} answers HEAD like GET, without the body`, async () => {
      const headers = credentialFor(at, endpoint);
      const [get, head] = await Promise.all([
        send(at, endpoint, { headers }),
        send(at, endpoint, { headers, method: 'HEAD' }),
      ]);
      assert.deepEqual([head.status, await head.text()], [get.status, '']);
      for (const name of ['content-type', 'content-length', 'cache-control'])
        assert.equal(head.headers.get(name), get.headers.get(name), name);
    });

  for (const [path, siblings = []] of Object.entries(Object.groupBy(endpoints, (one) => one.path))) {
    const [{ params = {} } = {}] = siblings;
    const methods = siblings.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

    it(`${path} is 405 with an Allow header for methods that it does not have, even without a credential`, async () => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (methods.includes(method)) continue;
        const reply = await fetchPublished(at.url + pathOf({ path, params }), { method });
        assert.deepEqual([reply.status, await codeOf(reply)], [405, 'method_not_allowed'], method);
        assert.equal(reply.headers.get('allow'), methods.toSorted().join(', '));
      }
    });
  }
});

describe('every endpoint under a rate limit', () => {
  const POINTS = 60;
  let at: Installation;

  before(async () => {
    at = await install({ RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: String(POINTS) });
    const { url, app, user } = at;
    const useUp = async (call: () => Promise<{ status: number }>) => {
      // On a slow machine, points are refilled meanwhile.
      for (let calls = 0; calls <= 10 * POINTS; calls += 1) if ((await call()).status === 429) return;
      assert.fail('never 429');
    };
    await Promise.all([
      useUp(() => app.usage()),
      useUp(() => user.request('GET', '/api/auth/me/')),
      useUp(() => fetchPublished(`${url}/api/auth/waitlist/`, { method: 'POST' })),
    ]);
  });
  after(() => at.system.stop());

  for (const endpoint of endpoints.filter(({ unlimited }) => !unlimited))
    it(`${endpoint.name} is 429 with a Retry-After when its caller's rate limit is used up`, async () => {
      const reply = await send(at, endpoint, { headers: credentialFor(at, endpoint), body: '{' });
      await assertRefused(reply, endpoint, 429, 'rate_limited');
      assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      for (const name of ['ratelimit', 'ratelimit-policy']) assert.ok(reply.headers.has(name), name);
    });

  for (const endpoint of endpoints.filter(({ unlimited }) => unlimited))
    it(`${endpoint.name} is not rate-limited`, async () => {
      assert.equal((await send(at, endpoint)).status, 200);
    });
});

describe('every endpoint without a database', () => {
  const server = useOwnServer();
  let at: Installation;

  before(async () => {
    at = await install();
    await server.stop('immediate');
    // Waits until the cached credentials have expired.
    await until(async () => (await at.app.usage()).status === 503);
    await until(async () => (await at.user.request('GET', '/api/auth/me/')).status === 503);
    // A process counts as stuck only after 10 s.
    await until(async () => (await fetchPublished(`${at.url}/healthz`)).status === 503, 15_000);
  });

  after(async () => {
    await server.start();
    await at.system.stop();
  });

  for (const endpoint of endpoints.filter(needsDatabase))
    it(`${endpoint.name} is 503 service_unavailable while the database is unreachable`, async () => {
      const headers = { ...credentialFor(at, endpoint), ...JSON_TYPE };
      const body = JSON.stringify(endpoint.body && examples[endpoint.operationId]?.request);
      const reply = await send(at, endpoint, { headers, body });
      await assertRefused(reply, endpoint, 503, 'service_unavailable');
      assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    });

  for (const endpoint of endpoints.filter((one) => !needsDatabase(one)))
    it(`${endpoint.name} answers with its usual status while the database is unreachable`, async () => {
      assert.equal((await send(at, endpoint)).status, endpoint.status);
    });
});

/** Sends the body only if the endpoint takes one. */
function send(
  { url }: Installation,
  endpoint: TestedEndpoint,
  {
    headers = {},
    method = endpoint.method,
    body,
  }: { headers?: Record<string, string>; method?: string; body?: string | undefined } = {},
): Promise<Response> {
  const sent = endpoint.body === undefined ? undefined : body;
  return fetchPublished(url + pathOf(endpoint), { method, headers, ...(sent && { body: sent }) });
}

/** Announces a body of the endpoint's size limit plus `over` bytes, and sends none of it. */
function announce(at: Installation, endpoint: TestedEndpoint, { over = 0 } = {}): ClientRequest {
  const { method, bodyLimit = BODY_BYTES_MAX } = endpoint;
  const headers = { ...credentialFor(at, endpoint), ...JSON_TYPE, 'content-length': bodyLimit + over };
  const request = httpRequest(at.url + pathOf(endpoint), { method, headers });
  request.on('error', () => {});
  request.flushHeaders();
  return request;
}

/** Sends further headers after the credential, and asserts that the endpoint refuses the request. */
async function assertInvalidRequest(at: Installation, endpoint: TestedEndpoint, more: string[]) {
  const { authorization = '' } = credentialFor(at, endpoint);
  const headers = ['Host', 'x', 'Authorization', authorization, ...more];
  const request = httpRequest(at.url + pathOf(endpoint), { method: endpoint.method, headers });
  const [response]: IncomingMessage[] = await once(request.end(), 'response');
  const { status, body } = await readPublished(at, endpoint, response);
  assert.deepEqual([status, JSON.parse(body).detail.code], [400, 'invalid_request']);
}

/** Checks that the answer is as published, and returns it. */
async function readPublished(
  { url }: Installation,
  endpoint: TestedEndpoint,
  response: IncomingMessage | undefined,
) {
  assert.ok(response);
  const { statusCode: status = 0, headers } = response;
  const body = await text(response);
  const { method } = endpoint;
  assertPublished({ method, url: url + pathOf(endpoint), status, type: headers['content-type'], text: body });
  return { status, body };
}

const PARAMS: Record<ParamKind, string> = { identifier: 'nobody', uuid: newId(), text: 'nothing' };

/** Returns the endpoint's path with well-formed ids that do not exist. */
function pathOf({ path, params }: Pick<Endpoint, 'path' | 'params'>): string {
  return path.replaceAll(/:(\w+)/g, (_, name) => PARAMS[params[name] ?? 'identifier']);
}

function credentialFor(
  { app, user }: Installation,
  { credential }: Pick<Endpoint, 'credential'>,
): Record<string, string> {
  return credential === 'none' ? {} : bearer(credential === 'app' ? app.key : user.access);
}

function bearer(credential: string): { authorization: string } {
  return { authorization: `Bearer ${credential}` };
}

/** Signs a token as the installation does, but one that expired a minute ago. */
function expiredToken(accountId: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: PUBLIC_URL, aud: `${PUBLIC_URL}/api`, sub: accountId, jti: newId() })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'default' })
    .setIssuedAt(now - 3660)
    .setExpirationTime(now - 60)
    .sign(Buffer.from(JWT_SECRET));
}

interface ErrorReply {
  detail: { code: string; message?: string };
}

async function codeOf(reply: Response): Promise<string | undefined> {
  return ((await reply.json()) as ErrorReply).detail.code;
}

/** Asserts status and code, and that the body has exactly the fields of an error of its surface. */
async function assertRefused(
  reply: Response,
  { surface }: TestedEndpoint,
  status: number,
  code: string,
): Promise<void> {
  const { detail } = (await reply.json()) as ErrorReply;
  assert.deepEqual([reply.status, detail.code], [status, code]);
  assert.deepEqual(Object.keys(detail), surface === 'api' ? ['code', 'message'] : ['code']);
}
