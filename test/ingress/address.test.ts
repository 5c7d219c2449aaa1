import assert from 'node:assert/strict';
import Type from 'typebox';
import { networkOf } from '../../ingress/http/address.ts';
import { createApp } from '../../ingress/http/app.ts';
import { endpoint, endpointsOn } from '../../ingress/http/endpoint.ts';
import { type ListeningServer, listen } from '../../ingress/http/server.ts';
import type { LimiterFactory } from '../../ingress/limits/limiter.ts';
import { requestLimits } from '../../ingress/limits/request-limits.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { createLog } from '../../shared/log.ts';
import { closedObject } from '../../shared/schemas/build.ts';

const readAddress = endpoint('none', {
  operationId: 'readAddress',
  tag: 'Health',
  summary: 'The address of the caller',
  errors: [],
  status: 200,
  response: closedObject({ address: Type.String() }),
}).handle(async ({ address }) => ({ body: { address } }));

/** Keys under which requests were counted, each with the name of its limit. */
let counted: string[] = [];
const limits: LimiterFactory = {
  open: () => assert.fail('every request would ask the store'),
  lease: (limit) => ({
    limit,
    async take(key) {
      counted.push(`${limit.name} ${key}`);
      return { allowed: true, remaining: 1, resetS: 1 };
    },
    refusal: () => undefined,
  }),
  async close() {},
};
const nobody = () => Promise.reject(new AppError('not_authenticated'));

describe("client's address", () => {
  const servers: ListeningServer[] = [];
  beforeEach(() => {
    counted = [];
  });
  after(() => Promise.all(servers.map((server) => server.close(0))));

  /** Returns the address that an ingress sees for a request from this machine. */
  async function addressSeen(trustProxy: string[], forwarded?: string, host = '127.0.0.1'): Promise<string> {
    const app = createApp({
      routes: [endpointsOn('v1')('GET', '/v1/address', 'none', readAddress)],
      parts: undefined,
      credentials: { app: nobody, user: nobody },
      countRequest: requestLimits({ rps: 1, burst: 1 }, limits),
      takeTurn: (_, work) => work(),
      refusals: { add() {} },
      trustProxy,
      corsOrigins: [],
      sendTimeoutMs: 30_000,
      log: createLog('test', 'silent'),
      isShuttingDown: () => false,
    });
    const server = await listen({ host, port: 0 });
    servers.push(server);
    server.serve(app.callback());
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const answer = await fetch(`http://127.0.0.1:${server.port}/v1/address`, { headers });
    return ((await answer.json()) as { address: string }).address;
  }

  it("X-Forwarded-For does not change a client's address unless the connection is from a trusted proxy", async () => {
    assert.equal(await addressSeen([]), '127.0.0.1');
    assert.equal(await addressSeen([], '203.0.113.9'), '127.0.0.1');
    assert.equal(await addressSeen(['10.0.0.0/8'], '203.0.113.9'), '127.0.0.1');
    assert.deepEqual(new Set(counted), new Set(['address 127.0.0.1']));
  });

  it("behind trusted proxies, a client's address is the last untrusted one in X-Forwarded-For, or the first if all are trusted", async () => {
    assert.equal(await addressSeen(['loopback'], '203.0.113.9'), '203.0.113.9');
    assert.equal(await addressSeen(['127.0.0.1'], '1.1.1.1, 203.0.113.9'), '203.0.113.9');
    assert.equal(
      await addressSeen(['loopback', '10.0.0.0/8'], '1.1.1.1, 203.0.113.9, 10.1.2.3'),
      '203.0.113.9',
    );
    assert.equal(await addressSeen(['loopback', 'uniquelocal'], '192.168.1.1, 10.1.2.3'), '192.168.1.1');
    assert.equal(counted.at(-2), 'address 203.0.113.9');
  });

  it("a client's address is always a valid IP address, whatever X-Forwarded-For contains", async () => {
    assert.equal(await addressSeen(['loopback'], 'unknown'), '127.0.0.1');
    assert.equal(await addressSeen(['loopback'], '"; drop table, ,,'), '127.0.0.1');
    assert.equal(await addressSeen(['loopback', '10.0.0.0/8'], 'x, 10.0.0.1'), '10.0.0.1');
    assert.equal(await addressSeen(['loopback'], ','.repeat(2000)), '127.0.0.1');
  });

  it('an IPv4-mapped IPv6 address of a client counts as its IPv4 address', async () => {
    assert.equal(await addressSeen([], undefined, '::'), '127.0.0.1');
    assert.equal(await addressSeen(['loopback'], '::ffff:203.0.113.9', '::'), '203.0.113.9');
  });

  it('rate limits count an IPv6 address by its /64 network', async () => {
    await addressSeen(['loopback'], '2001:db8:1:2:3:4:5:6');
    await addressSeen(['loopback'], '2001:DB8:1:2::1');
    await addressSeen(['loopback'], '2001:db8:1:3::1');
    assert.deepEqual(counted, [
      'address 2001:db8:1:2::/64',
      'address 2001:db8:1:2::/64',
      'address 2001:db8:1:3::/64',
    ]);
  });

  it('networkOf returns an IPv4 address unchanged, and the /64 network of an IPv6 address', () => {
    const networks: Record<string, string> = {
      '203.0.113.9': '203.0.113.9',
      '::1': '0:0:0:0::/64',
      '::': '0:0:0:0::/64',
      'fe80::1%eth0': 'fe80:0:0:0::/64',
      '2001:0db8::a:b:c:d': '2001:db8:0:0::/64',
      '2001:db8:0:1:0:0:0:0': '2001:db8:0:1::/64',
      '64:ff9b::203.0.113.9': '64:ff9b:0:0::/64',
      '': '',
    };
    for (const [address, network] of Object.entries(networks)) assert.equal(networkOf(address), network);
  });
});
