import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { MIB } from '../../../shared/schemas/limits.ts';
import {
  bearer,
  call,
  edge,
  head,
  json,
  key,
  post,
  raw,
  rawCall,
  requestOfSize,
  useEdgeServer,
  valid,
} from '../../support/edge-server.ts';

describe('200', () => {
  useEdgeServer();

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

  it('unknown query parameters are ignored', async () => {
    assert.equal((await call('/v1/usage?x=%ZZ&__proto__=1')).status, 200);
  });

  it('a URL or headers of nearly 16 KiB are accepted', async () => {
    assert.equal((await rawCall('GET', `/v1/usage?${'x'.repeat(16_000)}`)).status, 200);
    assert.match(await raw(head('GET', '/v1/usage', [`X: ${'x'.repeat(16_000)}`])), /^HTTP\/1.1 200 /);
  });
});

describe('every request', () => {
  useEdgeServer();

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
    assert.equal(edge.logLines.length, 1);
    const line = JSON.parse(edge.logLines[0] ?? '{}');
    assert.deepEqual(
      [line.method, line.route, line.status, line.appId, line.errorCode],
      ['POST', '/v1/predictions/:request_id/cancel', 422, 'app-1', 'validation_error'],
    );
    assert.equal(typeof line.durationMs, 'number');
    assert.ok(line.requestId);
    assert.ok(!edge.logLines.join('').includes('secret'));
    assert.ok(!edge.logLines.join('').includes(key));
  });

  it('a 404 for the path and a 405 for the method log one access line each, without the unknown path', async () => {
    await call('/v1/secret-path');
    await call('/v1/usage', { method: 'DELETE' });
    const parsed = edge.logLines.map((line) => JSON.parse(line));
    assert.deepEqual(
      parsed.map(({ route, errorCode }) => [route, errorCode]),
      [
        [undefined, 'not_found'],
        ['/v1/usage', 'method_not_allowed'],
      ],
    );
    assert.ok(!edge.logLines.join('').includes('secret'));
  });
});
