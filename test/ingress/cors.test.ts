import assert from 'node:assert/strict';
import { useSystem } from '../support/system.ts';

const PAGE = 'https://app.example';
const PREFLIGHT = {
  origin: PAGE,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type',
};

describe('pages of other origins', () => {
  const system = useSystem({ workers: 0, env: { CORS_ORIGINS: `${PAGE}, http://localhost:5173` } });
  let url: string;
  before(async () => {
    url = system.webs[0]?.url ?? '';
  });

  const ask = (path: string, method: string, headers: Record<string, string>, at = url) =>
    fetch(at + path, { method, headers });

  it('a preflight request to /api from an origin in CORS_ORIGINS is answered without a credential', async () => {
    const answer = await ask('/api/connections/', 'OPTIONS', PREFLIGHT);
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get('access-control-allow-origin'), PAGE);
    assert.deepEqual(listOf(answer, 'access-control-allow-methods'), [
      'DELETE',
      'GET',
      'HEAD',
      'PATCH',
      'POST',
      'PUT',
    ]);
    assert.deepEqual(listOf(answer, 'access-control-allow-headers'), [
      'Accept',
      'Authorization',
      'Content-Type',
      'Forecue-Project',
      'Forecue-Retained',
      'Idempotency-Key',
      'Last-Event-ID',
      'Prefer',
      'X-On-Disconnect',
      'X-Request-Id',
      'X-Service-API-Key',
    ]);
    assert.equal(answer.headers.get('vary'), 'Origin');
    assert.equal(answer.headers.get('access-control-allow-credentials'), null);
  });

  it('pages of the origins in CORS_ORIGINS may read the answers, errors and headers of /api', async () => {
    const answer = await ask('/api/connections/', 'GET', { origin: 'http://localhost:5173' });
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.get('access-control-allow-origin'), 'http://localhost:5173');
    assert.deepEqual(listOf(answer, 'access-control-expose-headers'), [
      'Forecue-Alternatives',
      'Idempotency-Replayed',
      'Link',
      'Preference-Applied',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'Server-Timing',
      'WWW-Authenticate',
      'X-Error-Source',
      'X-Request-Id',
    ]);
    assert.equal(answer.headers.get('access-control-allow-credentials'), null);
    const nothing = await ask('/api/nothing/', 'GET', { origin: PAGE });
    assert.deepEqual([nothing.status, nothing.headers.get('access-control-allow-origin')], [404, PAGE]);
  });

  it('pages of origins that are not in CORS_ORIGINS get no CORS headers, and 405 for OPTIONS', async () => {
    for (const origin of ['https://evil.example', `${PAGE}.evil.example`, 'http://app.example', 'null']) {
      const preflight = await ask('/api/connections/', 'OPTIONS', { ...PREFLIGHT, origin });
      assert.equal(preflight.status, 405);
      assertSilent(preflight);
      const answer = await ask('/api/connections/', 'GET', { origin });
      assertSilent(answer);
      assert.equal(answer.headers.get('vary'), 'Origin');
    }
  });

  it('pages of the origins in CORS_ORIGINS get no CORS headers outside /api', async () => {
    for (const [path, status] of [['/v1/usage', 405] as const, ['/healthz', 405] as const]) {
      const preflight = await ask(path, 'OPTIONS', PREFLIGHT);
      assert.equal(preflight.status, status);
      assertSilent(preflight);
      assertSilent(await ask(path, 'GET', { origin: PAGE }));
    }
  });

  it('pages of other origins get no CORS headers if CORS_ORIGINS is not set', async () => {
    const closed = await system.startWeb({ CORS_ORIGINS: '' });
    const preflight = await ask('/api/connections/', 'OPTIONS', PREFLIGHT, closed.url);
    assert.equal(preflight.status, 405);
    assertSilent(preflight);
    assert.equal(preflight.headers.get('vary'), null);
  });
});

function listOf(answer: Response, name: string): string[] | undefined {
  return answer.headers
    .get(name)
    ?.split(',')
    .map((item) => item.trim())
    .sort();
}

function assertSilent({ headers }: Response): void {
  assert.deepEqual(
    [...headers.keys()].filter((name) => name.startsWith('access-control-')),
    [],
  );
}
