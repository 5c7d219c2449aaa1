import assert from 'node:assert/strict';
import { lookup, Resolver } from 'node:dns/promises';
import { createServer } from 'node:http';
import { mock } from 'node:test';
import { GuardedFetchError, guardedFetch } from '../../../shared/net/guarded-fetch.ts';
import { useServer } from '../../support/listening.ts';

const LIMITS = { timeoutMs: 300, bytesMax: 1000 };
const STRICT = { ...LIMITS, allowsPrivate: false };

describe('guarded fetch', () => {
  const server = useServer(
    createServer((request, response) => {
      if (request.url === '/long') response.end('x'.repeat(2000));
      else if (request.url === '/moved') response.writeHead(302, { location: '/' }).end();
      else if (request.url !== '/silent') response.end(`${request.method} ${request.headers['x-a']}`);
    }),
  );
  afterEach(() => mock.restoreAll());
  const call = (path: string, more = {}) =>
    guardedFetch(new URL(server.url + path), { ...LIMITS, allowsPrivate: true, ...more });

  it('only addresses that anybody can reach are called', async () => {
    const refuses = (host: string) =>
      guardedFetch(new URL(`https://${host}/`), { ...STRICT, timeoutMs: 1 }).then(
        () => false,
        (error: unknown) => error instanceof GuardedFetchError,
      );
    const own = ['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1'];
    const special = ['0.0.0.0', '224.0.0.1', '255.255.255.255', '198.18.0.1'];
    const ipv6 = ['::1', '::', 'fe80::1', 'fd00::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'];
    const within = ['2002:7f00:1::', '2001:db8::1', '2001::1'];
    for (const host of [...own, ...special, ...[...ipv6, ...within].map((address) => `[${address}]`)])
      assert.ok(await refuses(host), host);
    for (const host of ['1.1.1.1', '172.32.0.1', '[2606:4700::1111]'])
      assert.ok(!(await refuses(host)), host);
  });

  it('a private address, its other spellings, a name of one and plain http are not called', async () => {
    const { port } = server;
    const hosts = [
      `127.0.0.1:${port}`,
      `2130706433:${port}`,
      `0x7f.1:${port}`,
      `[::1]:${port}`,
      `localhost:${port}`,
    ];
    for (const host of [...hosts, 'user:password@one.example', '[::ffff:169.254.169.254]'])
      await assert.rejects(guardedFetch(new URL(`https://${host}/`), STRICT), GuardedFetchError, host);
    await assert.rejects(guardedFetch(new URL('http://one.example/'), STRICT), GuardedFetchError);
  });

  it('a name is not called if any of its addresses is private', async () => {
    for (const [ipv4, ipv6] of [
      [['10.0.0.1'], []],
      [['1.1.1.1', '169.254.169.254'], []],
      [['1.1.1.1'], ['fd00::1']],
    ] as const) {
      mock.method(Resolver.prototype, 'resolve4', async () => [...ipv4]);
      mock.method(Resolver.prototype, 'resolve6', async () => [...ipv6]);
      const called = guardedFetch(new URL('https://one.example/'), { ...STRICT, timeoutMs: 10_000 });
      await assert.rejects(called, GuardedFetchError);
      mock.restoreAll();
    }
  });

  it('names whose servers do not answer hold up no connection of the process to its own stores', async () => {
    const { mock: asked } = mock.method(Resolver.prototype, 'resolve4', () => new Promise(() => {}));
    mock.method(Resolver.prototype, 'resolve6', () => new Promise(() => {}));
    const names = Array.from({ length: 8 }, (_, n) => `https://slow-${n}.example/`);
    const calls = names.map((name) => guardedFetch(new URL(name), STRICT).catch((error) => error.name));
    // `lookup` takes threads of the process, by which it finds its database.
    assert.equal(asked.callCount(), names.length);
    assert.equal((await lookup('localhost', { family: 4 })).address, '127.0.0.1');
    assert.deepEqual(new Set(await Promise.all(calls)), new Set(['AbortError']));
  });

  it('an answer comes whole within its limits, and a redirect as it is', async () => {
    const { status, text } = await call('/x', { method: 'POST', body: 'b', headers: { 'X-A': 'c' } });
    assert.deepEqual([status, text], [200, 'POST c']);
    assert.equal((await call('/moved')).status, 302);
    await assert.rejects(call('/long'), GuardedFetchError);
    await assert.rejects(call('/silent'), { name: 'AbortError' });
  });
});
