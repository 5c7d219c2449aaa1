import assert from 'node:assert/strict';
import Type from 'typebox';
import { endpoint, endpointsOn } from '../../ingress/http/endpoint.ts';
import { createKoa } from '../../ingress/http/koa.ts';
import { type ListeningServer, listen } from '../../ingress/http/server.ts';
import { BufferedLimiter, type LimiterFactory } from '../../ingress/limits/limiter.ts';
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
  openBuffered: (limit) =>
    Object.assign(new BufferedLimiter(limit, () => assert.fail()), {
      async take(key: string) {
        counted.push(`${limit.name} ${key}`);
        return { allowed: true, remaining: 1, resetS: 1 };
      },
    }),
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
    const app = createKoa({
      routes: [endpointsOn('v1')('GET', '/v1/address', 'none', readAddress)],
      parts: undefined,
      credentials: { app: nobody, user: nobody },
      countRequest: requestLimits({ rps: 1, burst: 1 }, limits),
      checksTimeoutMs: 10_000,
      takeTurn: (_, work) => work(),
      announceChanged() {},
      noteReads() {},
      refusals: { add() {} },
      trustProxy,
      publicUrl: 'http://localhost:8080',
      corsOrigins: [],
      sendTimeoutMs: 30_000,
      log: createLog('test', 'silent'),
      isShuttingDown: () => false,
      noteChange() {},
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
    // Some gateways send ports.
    assert.equal(
      await addressSeen(['loopback', '10.0.0.0/8'], '203.0.113.9:555, 10.1.2.3:80'),
      '203.0.113.9',
    );
    assert.equal(await addressSeen(['loopback'], '[2001:db8::9]:555'), '2001:db8::9');
    assert.equal(await addressSeen(['loopback'], '2001:db8::9:555'), '2001:db8::9:555');
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
});
