import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
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
  RENDERED,
  raw,
  rawCall,
  requestOfSize,
  useEdgeServer,
  valid,
} from '../../support/edge-server.ts';

describe('200', () => {
  useEdgeServer();

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

describe('disconnecting callers', () => {
  useEdgeServer();

  it("a caller that disconnects aborts the handler's signal", async () => {
    const request = httpRequest(`${edge.server.url}/v1/wait`).on('error', () => {});
    request.end();
    await edge.waiting;
    request.destroy();
    await edge.callerGone;
  });

  it("answering a caller does not abort the handler's signal", async () => {
    const reply = call('/v1/wait');
    await edge.waiting;
    const left = edge.callerGone.then(() => 'gone');
    edge.release();
    assert.equal((await reply).status, 200);
    assert.equal(await Promise.race([left, sleep(100).then(() => 'served')]), 'served');
  });
});
