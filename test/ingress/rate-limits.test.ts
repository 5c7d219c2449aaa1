import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { isEndpoint } from '../../ingress/http/endpoint.ts';
import { routes } from '../../ingress/routes/index.ts';
import { newId } from '../../shared/ids.ts';
import { MIB } from '../../shared/schemas/limits.ts';
import { newServiceKey } from '../../shared/security/keys.ts';
import { type AppClient, call, type Options, type Reply } from '../support/client.ts';
import type { HostedPart } from '../support/hosted.ts';
import { type System, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** A window is much longer than a test takes. */
const POINTS = 20;
const WINDOW_S = 20;

describe('rate limits', () => {
  const system = useSystem({
    webs: 2,
    workers: 0,
    env: { DATABASE_POOL: '4', RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: `${POINTS}` },
  });
  let app: AppClient;
  let other: HostedPart;
  before(async () => {
    [, other] = system.webs as [HostedPart, HostedPart];
  });
  beforeEach(async () => {
    app = await system.app();
  });

  it(`a rate limit of ${POINTS} points counts an app's calls exactly, across all ingresses`, async () => {
    const calls = await Promise.all(
      Array.from({ length: 3 * POINTS }, (_, n) => usage(app, n % 2 === 0 ? {} : { at: other })),
    );
    assert.equal(calls.filter(({ status }) => status === 200).length, POINTS);
    for (const { code } of calls.filter(({ status }) => status !== 200)) assert.equal(code, 'rate_limited');
  });

  it('rate limits count each app separately', async () => {
    await exhaust(app);
    const neighbour = await usage(await system.app());
    assert.deepEqual([neighbour.status, policyOf(neighbour).remaining], [200, POINTS - 1]);
  });

  it('answers that count towards a rate limit report the limit, the remaining points, and the seconds to the refill', async () => {
    for (let left = POINTS - 1; left >= 0; left -= 1) {
      const answer = left % 2 === 0 ? await usage(app) : await app.request('POST', '/v1/predictions', '{');
      assert.equal(answer.headers.get('ratelimit-policy'), `"app";q=${POINTS};w=${WINDOW_S}`);
      assert.equal(policyOf(answer).remaining, left);
      assert.ok(policyOf(answer).resetS >= 1 && policyOf(answer).resetS <= WINDOW_S);
      assert.equal(answer.headers.get('retry-after'), null);
    }
    const refused = await usage(app);
    assert.deepEqual([refused.status, refused.text], [429, '{"detail":{"code":"rate_limited"}}']);
    assert.equal(refused.headers.get('ratelimit-policy'), `"app";q=${POINTS};w=${WINDOW_S}`);
    assert.equal(policyOf(refused).remaining, 0);
    assert.equal(refused.headers.get('retry-after'), String(policyOf(refused).resetS));
    assert.equal(refused.headers.get('x-error-source'), 'ingress');
  });

  it("a request's rate limit is checked after its route and its credential, and before its body", async () => {
    await exhaust(app);
    const cancel = '/v1/predictions/r-1/cancel';
    const outcomes = [
      await app.request('GET', '/v1/nothing'),
      await app.request('GET', cancel),
      await app.request('POST', cancel, '{}', { headers: { authorization: 'Bearer fc_wrong' } }),
      await app.request('POST', cancel, `"${'x'.repeat(MIB)}"`),
      await app.request('POST', cancel, '{}', { headers: { 'content-type': 'text/plain' } }),
      await app.request('POST', cancel, '{'),
      await app.request('POST', cancel, '{}'),
    ].map(({ status }) => status);
    assert.deepEqual(outcomes, [404, 405, 401, 429, 429, 429, 429]);
  });

  it('wrong app keys and /healthz are answered without a `RateLimit` header, and /healthz is not rate-limited', async () => {
    const bad = await app.request('GET', '/v1/usage', undefined, { headers: { authorization: 'Bearer x' } });
    assert.deepEqual([bad.status, bad.headers.get('ratelimit')], [401, null]);
    for (let n = 0; n <= POINTS; n += 1) {
      const health = await call('GET', `${app.url}/healthz`);
      assert.deepEqual([health.status, health.headers.get('ratelimit')], [200, null]);
    }
  });

  it('every page and file counts towards the rate limit of the address that requests it', async () => {
    const pages = routes.filter((route) => !isEndpoint(route) && route.method === 'GET');
    assert.ok(pages.length > 10);
    for (const { path } of pages) {
      const { headers } = await fetch(app.url + path.replace(':request_id', newId()), { redirect: 'manual' });
      assert.equal(headers.get('ratelimit-policy'), `"address";q=${POINTS};w=${WINDOW_S}`, path);
    }
  });

  it('rate limits refuse a request before its body is read, and the connection stays usable', async () => {
    await exhaust(app);
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    let answers = '';
    socket.setEncoding('utf8').on('data', (text) => {
      answers += text;
    });
    await once(socket, 'connect');
    const head = (method: string, path: string, more: string) =>
      `${method} ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${app.key}\r\n${more}\r\n`;
    const body = 'x'.repeat(8 * MIB);
    socket.write(head('POST', '/v1/predictions', `Content-Length: ${body.length}\r\n`));
    await until(() => answers.includes('rate_limited'));
    socket.write(body);
    socket.write(head('GET', '/healthz', 'Connection: close\r\n'));
    await once(socket, 'close');
    assert.match(answers, /^HTTP\/1\.1 429 [\s\S]*HTTP\/1\.1 200 /);
  });

  it('rate limits count all keys of a person together, and different people separately', async () => {
    const [one, another] = [await person(system), await person(system)];
    const connections = (key: string) =>
      call('GET', `${app.url}/api/connections/`, undefined, { headers: { 'x-service-api-key': key } });
    const [first, second] = [await connections(one.keys[0]), await connections(one.keys[1])];
    assert.equal(first.headers.get('ratelimit-policy'), `"user";q=${POINTS};w=${WINDOW_S}`);
    assert.deepEqual([policyOf(first).remaining, policyOf(second).remaining], [POINTS - 1, POINTS - 2]);
    assert.equal(policyOf(await connections(another.keys[0])).remaining, POINTS - 1);
  });

  it("rate limits are stored under keys that do not contain the app's id", async () => {
    await system.queue.listen();
    await usage(app);
    const rows = await system.sql('select key from rate_limits');
    assert.ok(rows.every(({ key }) => !key.includes(app.id)));
    assert.equal(await system.queue.holds(app.id), false);
  });

  it('rate limits start anew with each window, and never allow more requests in a window than the limit', async () => {
    const fast = await system.startWeb({ RATE_LIMIT_RPS: '8', RATE_LIMIT_BURST: '5' });
    const from = performance.now();
    const answers: Reply<unknown>[] = [];
    await until(async () => {
      answers.push(...(await Promise.all(Array.from({ length: 16 }, () => usage(app, { at: fast })))));
      return answers.filter(({ status }) => status === 200).length > 2 * 8;
    });
    const windows = 1 + (performance.now() - from) / 1000;
    assert.ok(answers.filter(({ status }) => status === 200).length <= 8 * Math.ceil(windows));
    assert.ok(answers.some(({ status }) => status === 429));
    assert.ok(answers.every(({ headers }) => headers.get('ratelimit-policy') === '"app";q=8;w=1'));
  });

  it('rate limits are off with RATE_LIMIT_RPS=0', async () => {
    const free = await system.startWeb({ RATE_LIMIT_RPS: '0' });
    const calls = await Promise.all(Array.from({ length: 2 * POINTS }, () => usage(app, { at: free })));
    for (const { status, text, headers } of calls)
      assert.deepEqual([status, headers.get('ratelimit')], [200, null], text);
  });
});

function usage(app: AppClient, options: Options = {}): Promise<Reply<unknown>> {
  return app.request('GET', '/v1/usage', undefined, options);
}

async function exhaust(app: AppClient): Promise<void> {
  await Promise.all(Array.from({ length: POINTS }, () => usage(app)));
  assert.equal((await usage(app)).status, 429);
}

/** Parses a header such as `RateLimit: "app";r=57;t=1`. */
function policyOf({ headers }: Reply<unknown>): { remaining: number; resetS: number } {
  const [, remaining, resetS] = headers.get('ratelimit')?.match(/^"[a-z]+";r=(\d+);t=(\d+)$/) ?? [];
  return { remaining: Number(remaining), resetS: Number(resetS) };
}

async function person({ database }: System): Promise<{ keys: [string, string] }> {
  const id = newId();
  await database.pool.query(
    `insert into accounts (id, email, email_key, password_hash, created_at, updated_at)
     values ($1, $2, $2, '', now(), now())`,
    [id, `${id}@example.com`],
  );
  const keys = [newServiceKey(), newServiceKey()] as const;
  for (const { hash, prefix } of keys) {
    await database.pool.query(
      `insert into service_keys (id, account_id, hash, prefix, label, created_at)
       values ($1, $2, $3, $4, 'test', now())`,
      [newId(), id, hash, prefix],
    );
  }
  return { keys: [keys[0].key, keys[1].key] };
}
