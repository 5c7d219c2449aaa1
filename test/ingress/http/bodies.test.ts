import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import { MIB } from '../../../shared/schemas/limits.ts';
import {
  assertCode,
  bearer,
  call,
  edge,
  head,
  json,
  post,
  raw,
  readAll,
  requestOfSize,
  useEdgeServer,
  valid,
} from '../../support/edge-server.ts';
import { until } from '../../support/until.ts';

describe('400', () => {
  useEdgeServer();

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
    const socket = connect(edge.server.port, '127.0.0.1');
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
      const socket = connect(edge.server.port, '127.0.0.1');
      const more = ['Content-Type: application/json', 'Content-Length: 100', `Content-Encoding: ${encoding}`];
      socket.write(head('POST', '/v1/predictions', [...more, 'Expect: 100-continue']));
      // The server waits for the body.
      await once(socket, 'data');
      const lines = edge.logLines.length;
      socket.end('{"a"').destroySoon();
      await until(() => edge.logLines.length > lines);
    }
    assert.equal((await call('/v1/usage')).status, 200);
    assert.ok(!edge.logLines.some((line) => line.includes('defect')), edge.logLines.join(''));
  });
});

describe('413', () => {
  useEdgeServer();

  const big = requestOfSize(4 * MIB + 1);

  it('a body that is too large by its Content-Length is 413 body_too_large at once, and the connection closes', async () => {
    const announce = async (encoding: string) => {
      const socket = connect(edge.server.port, '127.0.0.1');
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
      const socket = connect(edge.server.port, '127.0.0.1');
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
});

describe('503 overloaded', () => {
  useEdgeServer();

  const size = 4 * MIB;
  const top = (more: string[] = []) =>
    head('POST', '/v1/predictions', ['Content-Type: application/json', ...more]);

  it('a body for which no memory is free for two seconds is 503 overloaded, and its connection stays usable', async () => {
    const stalled = Array.from({ length: 4 }, () => {
      const socket = connect(edge.server.port, '127.0.0.1');
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
    const admitted = post('/v1/predictions', body);
    for (const socket of stalled) socket.destroy();
    assert.equal((await admitted).status, 200);
  });
});
