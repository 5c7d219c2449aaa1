import assert from 'node:assert/strict';
import { useSystem } from '../support/system.ts';
import { Visitor } from './visitor.ts';

describe('callback page', () => {
  const system = useSystem({ workers: 0, env: { PUBLIC_URL: 'http://localhost:8080' } });

  const addressOf = (query: Record<string, string>) =>
    `${system.webs[0]?.url}/connect/callback?${new URLSearchParams(query)}`;
  const visit = (query: Record<string, string>) => new Visitor().get(addressOf(query));

  it('the callback page shows the code, the state, a check of the issuer, and the request that exchanges the code', async () => {
    const { status, headers, text } = await visit({
      code: 'c0de',
      state: 'st4te',
      iss: 'http://localhost:8080',
    });
    assert.equal(status, 200);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.deepEqual(
      [headers.get('cache-control'), headers.get('referrer-policy')],
      ['no-store', 'no-referrer'],
    );
    for (const shown of ['<pre>c0de</pre>', 'st4te', 'which is right', '/v1/connections/exchange'])
      assert.ok(text.includes(shown), text);
    assert.match((await visit({ code: 'c', iss: 'http://evil.example' })).text, /which is wrong/);
  });

  it('after a denial, the callback page says that the app may not use the memory, and shows no exchange request', async () => {
    const { text } = await visit({ error: 'access_denied', state: 's' });
    assert.match(text, /The app may not use the memory/);
    assert.ok(!text.includes('exchange'));
  });

  it('the callback page never contains a parameter as markup', async () => {
    for (const name of ['code', 'state', 'iss', 'error']) {
      const { status, text } = await visit({ [name]: '<script>alert(1)</script>' });
      assert.equal(status, 200);
      assert.ok(!text.includes('<script>'), text);
    }
  });

  it('the callback page is 404 in production', async () => {
    const { url } = await system.startWeb({
      NODE_ENV: 'production',
      JWT_SECRET: 'a-secret-that-has-32-bytes-or-more',
    });
    assert.equal((await new Visitor().get(`${url}/connect/callback?code=c`)).status, 404);
  });
});
