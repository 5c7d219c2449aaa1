import assert from 'node:assert/strict';
import { once } from 'node:events';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue, type ErrorCode } from '../../../shared/errors/catalogue.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import {
  assertCode,
  call,
  edge,
  head,
  key,
  PERSON,
  post,
  raw,
  rawCall,
  streamClosed,
  useEdgeServer,
} from '../../support/edge-server.ts';

describe('401', () => {
  useEdgeServer();

  it('a credential that cannot be an app key is 401 invalid_app_key without a look-up', async () => {
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      key,
      `Basic ${key}`,
      `Bearer ${typo}`,
      `Bearer ${key} x`,
      `Bearer${key}`,
    ])
      assertCode(await call('/v1/usage', { headers: { authorization } }), 401, 'invalid_app_key');
    assert.equal(edge.lookUps, 0);
  });

  it('the scheme Bearer in an Authorization header may have any case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'bEaReR'])
      assert.equal((await call('/v1/usage', { headers: { authorization: `${scheme} ${key}` } })).status, 200);
  });

  it('a request without an app key is 401 invalid_app_key, even if its body is too large or not JSON', async () => {
    for (const [body, type] of [
      ['x'.repeat(5 * MIB), 'text/plain'],
      ['{', 'application/json'],
    ] as const)
      assertCode(await post('/v1/predictions', body, { 'content-type': type }), 401, 'invalid_app_key');
  });
});

describe('404', () => {
  useEdgeServer();

  it('an unknown path is 404 not_found for GET, POST, OPTIONS and DELETE, even without a credential', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE'])
      assertCode(await call('/v1/nowhere', { method, headers: {} }), 404, 'not_found');
    assertCode(await call('/', { headers: {} }), 404, 'not_found');
  });

  it('a path in another case, with a trailing or doubled slash or an encoded letter is 404 not_found', async () => {
    for (const path of [
      '/V1/usage',
      '/v1/Usage',
      '/v1/usage/',
      '//v1/usage',
      '/v1//usage',
      '/v1/us%61ge',
      '/v1/x/../usage',
    ])
      assert.equal((await rawCall('GET', path)).status, 404, path);
  });

  it('an event id under /api that is malformed or longer than 200 characters is 404 not_found', async () => {
    for (const id of ['100%', 'a%zz', 'x'.repeat(201)])
      assert.equal((await rawCall('GET', `/api/recording/events/${id}/`)).status, 404, id);
    assert.equal((await rawCall('GET', '/api/recording/events/100%25/')).status, 200);
  });

  it('a request target without a valid path is 404 not_found', async () => {
    for (const target of ['*', 'http://[/v1/usage', 'http://a:b/v1/usage']) {
      const { status, body } = await rawCall('OPTIONS', target);
      assert.deepEqual([status, body], [404, '{"detail":{"code":"not_found"}}'], target);
    }
  });
});

describe('405', () => {
  useEdgeServer();

  it('every method that Node can parse and the endpoint lacks is 405', async () => {
    for (const method of METHODS.filter((name) => !['GET', 'HEAD'].includes(name)))
      assert.equal((await rawCall(method, method === 'CONNECT' ? 'x:443' : '/v1/usage')).status, 405, method);
  });

  it('the 405 to CONNECT has an empty Allow header', async () => {
    assert.match((await rawCall('CONNECT', 'x:443')).head, /^Allow: ?$/m);
  });

  it('a client that resets its connection after CONNECT does not stop the server', async () => {
    const socket = connect(edge.server.port, '127.0.0.1').on('error', () => {});
    socket.write(head('CONNECT', 'x:443'));
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1.1 405 /);
    socket.resetAndDestroy();
    await once(socket, 'close');
    for (let n = 0; n < 3; n += 1) assert.equal((await rawCall('GET', '/v1/usage')).status, 200);
  });

  it('HEAD to an endpoint without GET is 405, without a body', async () => {
    const { status, text: answer } = await call('/v1/predictions', { method: 'HEAD' });
    assert.deepEqual([status, answer], [405, '']);
  });
});

describe('refusals by the HTTP parser', () => {
  useEdgeServer();

  /** Two lengths that Node's parser accepts, and one that it refuses. */
  const LENGTHS = [17_000, 60_000, 100_000];

  function assertBody(answer: string, status: string, code: ErrorCode): void {
    const [top = '', text] = answer.split('\r\n\r\n');
    assert.match(top, new RegExp(`^HTTP/1.1 ${status}\r\n`));
    assert.match(top, /\r\nContent-Type: application\/json; charset=utf-8(\r\n|$)/i);
    assert.match(top, /\r\nX-Error-Source: ingress(\r\n|$)/i);
    assert.match(top, /\r\nX-Request-Id: \S+(\r\n|$)/i);
    assert.equal(text, JSON.stringify({ detail: { code } }));
  }

  for (const length of LENGTHS) {
    it(`a URL of ${length} characters is 414 uri_too_long`, async () => {
      const answer = await raw(head('GET', `/v1/usage?${'x'.repeat(length)}`));
      assertBody(answer, '414 URI Too Long', 'uri_too_long');
    });

    it(`headers of ${length} characters are 431 headers_too_large`, async () => {
      const many = Array.from({ length: length / 1000 }, (_, n) => `X-${n}: ${'x y '.repeat(250)}`);
      for (const headers of [[`X: ${'x y '.repeat(length / 4)}`], many])
        assertBody(
          await raw(head('GET', '/v1/usage', headers)),
          '431 Request Header Fields Too Large',
          'headers_too_large',
        );
    });
  }

  it('the 414 for a URL that is too long has a message if the path is under /api', async () => {
    const { status, body } = await rawCall('GET', `/api/auth/me/?${'x'.repeat(17_000)}`);
    const { message } = catalogue.uri_too_long;
    assert.deepEqual([status, JSON.parse(body)], [414, { detail: { code: 'uri_too_long', message } }]);
  });

  it('an error under /api has a message even if the request target includes the host', async () => {
    for (const [target, status] of [
      ['http://x/api/nowhere/', 404],
      ['HTTP://x/api/nowhere/', 404],
      ['http://[/api/auth/me/', 404],
      [`http://x/api/auth/me/?${'x'.repeat(17_000)}`, 414],
      [`http://x/api/auth/me/?${'x'.repeat(60_000)}`, 414],
    ] as const) {
      const answer = await rawCall('GET', target);
      const { code, message } = JSON.parse(answer.body).detail;
      assert.deepEqual([answer.status, message], [status, catalogue[code as ErrorCode].message], target);
    }
    const answer = await raw(head('GET', 'http://x/api/auth/me/', [`X: ${'x '.repeat(50_000)}`]));
    assert.match(answer, /^HTTP\/1.1 431 /);
  });

  it('an Expect header other than 100-continue is 417 expectation_failed', async () => {
    const answer = await raw(head('GET', '/v1/usage', ['Expect: something']));
    assertBody(answer, '417 Expectation Failed', 'expectation_failed');
  });

  it('headers that take more than ten seconds to arrive are 408 request_timeout, but not those that came while the server stood still', async () => {
    const [slow, unused] = [raw('GET /v1/usage HTTP/1.1\r\n'), raw('')];
    const prompt = connect(edge.server.port, '127.0.0.1');
    await once(prompt, 'connect');
    await sleep(9000);
    // After input, so that timers come before the next look for input.
    await raw(head('GET', '/v1/usage'));
    prompt.write(head('GET', '/v1/usage'));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    assert.match(await text(prompt), /^HTTP\/1.1 200 /);
    for (const answer of await Promise.all([slow, unused]))
      assertBody(answer, '408 Request Timeout', 'request_timeout');
  });
});

describe('422', () => {
  useEdgeServer();

  it('an invalid or repeated query value gets a 422 that names the query parameter', async () => {
    const types: Record<string, string> = {
      '-1': 'greater_than_equal',
      '9007199254740993': 'less_than_equal',
    };
    for (const limit of ['x', '1&limit=2', '', '0x10', ...Object.keys(types)]) {
      const { status, text: answer } = await call(`/v1/usage?limit=${limit}`);
      assert.equal(status, 422, limit);
      const [{ loc, type }] = JSON.parse(answer).detail;
      assert.deepEqual([loc, type], [['query', 'limit'], types[limit] ?? 'int_type']);
    }
    assert.equal((await call('/v1/usage?q=%00')).status, 422);
  });
});

describe('other errors', () => {
  useEdgeServer();

  it("an error's answer has its status, its code, an X-Error-Source and, if a retry can help, a Retry-After", async () => {
    const expected = [
      ['conflict', 409, 'request_in_flight', 'ingress', '1'],
      ['provider', 503, 'provider_rate_limited', 'provider', '3'],
      ['soon', 503, 'service_unavailable', 'ingress', '1'],
      ['cancelled', 499, 'prediction_cancelled', 'worker', null],
      ['timeout', 504, 'prediction_timeout', 'worker', null],
      ['database', 503, 'service_unavailable', 'ingress', '1'],
      ['locked', 503, 'service_unavailable', 'ingress', '1'],
      ['pool', 503, 'service_unavailable', 'ingress', '1'],
      ['deadlock', 503, 'service_unavailable', 'ingress', '1'],
      ['defect', 500, 'internal_error', 'ingress', null],
      ['row', 500, 'internal_error', 'ingress', null],
      ['nothing', 500, 'internal_error', 'ingress', null],
    ] as const;
    for (const [kind, status, code, source, retryAfter] of expected) {
      const reply = await call(`/v1/fail/${kind}`);
      assertCode(reply, status, code);
      assert.deepEqual(
        [reply.headers.get('x-error-source'), reply.headers.get('retry-after')],
        [source, retryAfter],
        kind,
      );
    }
  });

  it('a database fault is logged as an outage, a lock timeout or a conflict of transactions', async () => {
    const messageOf = async (kind: string) => {
      edge.logLines = [];
      await call(`/v1/fail/${kind}`);
      return JSON.parse(edge.logLines[0] ?? '{}').msg;
    };
    assert.equal(await messageOf('database'), 'database unreachable');
    assert.equal(await messageOf('locked'), 'lock timeout');
    assert.equal(await messageOf('deadlock'), 'transaction conflict');
  });

  it('an error that breaks off a streamed answer is logged with its stack and request id', async () => {
    const response = await fetch(`${edge.server.url}/v1/stream`);
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    const defect = JSON.parse(edge.logLines.find((line) => line.includes('"defect"')) ?? '{}');
    assert.equal(defect.requestId, response.headers.get('x-request-id'));
    assert.match(defect.err.stack, /edge-server\.ts/);
  });

  it('a caller that disconnects from a streamed answer is not logged as an error', async () => {
    const gone = new AbortController();
    const response = await fetch(`${edge.server.url}/v1/endless`, { signal: gone.signal });
    gone.abort();
    await assert.rejects(response.text());
    await streamClosed.promise;
    await call('/v1/usage');
    assert.deepEqual(
      edge.logLines.map((line) => JSON.parse(line).msg),
      ['request', 'request'],
    );
  });

  it('an internal error is logged with its stack and request id, but without texts of a database row', async () => {
    const reply = await call('/v1/fail/defect');
    await call('/v1/fail/row');
    const defect = JSON.parse(edge.logLines.find((line) => line.includes('"defect"')) ?? '{}');
    assert.equal(defect.requestId, reply.headers.get('x-request-id'));
    assert.match(defect.err.stack, /edge-server\.ts/);
    assert.equal(defect.err.message, 'undefined is not a function');
    assert.equal(edge.logLines.filter((line) => line.includes('"defect"')).length, 2);
    assert.ok(!edge.logLines.join('').includes(PERSON));
  });
});
