import assert from 'node:assert/strict';
import { createAppClient, ForecueError } from '../../client/src/v1.ts';
import { predictionBody } from '../support/client.ts';
import { refusal, type ScriptedAnswer, scriptedServer } from '../support/scripted-server.ts';

const ANSWER = { body: JSON.stringify({ status: 'suggested', completion: 'the team' }) };
const GATEWAY = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' };

/** Sends one call to a server with this script; with what it ended, and what was sent. */
async function against(
  steps: ScriptedAnswer[],
  call = (client: ReturnType<typeof createAppClient>): Promise<unknown> =>
    client.predict({ ...predictionBody(), mode: 'next_prompt' }),
) {
  await using server = await scriptedServer(...steps);
  const client = createAppClient({ baseUrl: server.url, appKey: 'fc_test' });
  const since = performance.now();
  const outcome = await call(client).then(
    (answer) => ({ answer }),
    (error: ForecueError) => ({ error }),
  );
  const { answer, error } = { answer: undefined, error: undefined, ...outcome };
  return { answer, error, requests: server.requests, tookMs: performance.now() - since };
}

describe('client retries', () => {
  it('the client retries a prediction whose connection is cut: under the same id, and waits for the same answer', async () => {
    const { answer, requests } = await against([undefined, undefined, ANSWER]);
    assert.deepEqual(answer, JSON.parse(ANSWER.body));
    assert.equal(requests.length, 3);
    assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
    for (const { headers } of requests) assert.equal(headers['prefer'], 'wait');
  });

  it('the client retries a prediction that a proxy answers with a page of its own, and reports one that stays', async () => {
    assert.deepEqual((await against([GATEWAY, ANSWER])).answer, JSON.parse(ANSWER.body));
    const { error, requests } = await against([GATEWAY]);
    assert.deepEqual([error?.code, error?.status, requests.length], ['unexpected_response', 502, 4]);
  });

  it('the client does not retry before Retry-After is over', async () => {
    const { answer, tookMs } = await against([refusal(429, 'rate_limited', { 'retry-after': '1' }), ANSWER]);
    assert.ok(answer);
    assert.ok(tookMs >= 1000, `${tookMs} ms`);
  });

  it('the client does not retry when Retry-After is longer than the call may take: it says how long at once', async () => {
    const { error, requests, tookMs } = await against([refusal(503, 'overloaded', { 'retry-after': '60' })]);
    assert.deepEqual([error?.code, error?.retryAfter, requests.length], ['overloaded', 60, 1]);
    assert.equal(error?.remedy, 'retry');
    assert.ok(tookMs < 1000);
  });

  it('the client retries after a date in Retry-After by the clock of its sender', async () => {
    const anHourAgo = Date.now() - 3_600_000;
    const { error } = await against([
      refusal(503, 'overloaded', {
        date: new Date(anHourAgo).toUTCString(),
        'retry-after': new Date(anHourAgo + 90_000).toUTCString(),
      }),
    ]);
    assert.equal(error?.retryAfter, 90);
  });

  it('the client retries nothing that cannot succeed', async () => {
    for (const [status, code] of [
      [401, 'invalid_app_key'],
      [402, 'sandbox_exhausted'],
      [409, 'idempotency_conflict'],
      [502, 'provider_failed'],
    ] as const) {
      const { error, requests } = await against([refusal(status, code)]);
      assert.deepEqual([error?.code, error?.status, requests.length], [code, status, 1]);
    }
  });

  it('the client retries nothing whose repetition would do something twice, unless it was refused unseen', async () => {
    const start = (client: ReturnType<typeof createAppClient>) =>
      client.startConnection({
        user_id: 'u',
        redirect_uri: 'https://a.example/',
        state: 's',
        code_challenge: 'c',
      });
    const lost = await against([undefined], start);
    assert.deepEqual([lost.error?.code, lost.requests.length], ['network_error', 1]);
    assert.equal((await against([refusal(503, 'service_unavailable')], start)).requests.length, 1);
    assert.equal((await against([refusal(429, 'rate_limited'), { body: '{}' }], start)).requests.length, 2);
  });

  it('the client retries within a budget: when all calls fail, few are repeated', async () => {
    await using server = await scriptedServer(undefined);
    const client = createAppClient({ baseUrl: server.url, retries: 2, appKey: 'fc_test' });
    const calls = Array.from({ length: 60 }, () => client.readUsage().catch(() => {}));
    await Promise.all(calls);
    assert.equal(server.requests.length, 60 + 20);
  });

  it("the client's retries have an end: a server that never answers is a timeout", async () => {
    const never = (_: unknown, init?: RequestInit) =>
      new Promise<Response>((_, reject) =>
        init?.signal?.addEventListener('abort', () => reject(new Error())),
      );
    const client = createAppClient({ baseUrl: 'http://127.0.0.1:1', fetch: never });
    await assert.rejects(client.readUsage({}, { timeoutMs: 50 }), { code: 'timeout', status: 0 });
  });
});

describe('client refuses', () => {
  it('the client refuses a base URL that cannot be one, when it is made, and says why', () => {
    for (const baseUrl of ['localhost:8080', 'forecue.example.com', '', 'ftp://a.example'])
      assert.throws(() => createAppClient({ baseUrl }), /baseUrl: not an http or https address/, baseUrl);
    for (const baseUrl of [
      'https://user:secret@a.example',
      'https://a.example/?key=1',
      'https://a.example/#a',
    ])
      assert.throws(() => createAppClient({ baseUrl }), /baseUrl: an address has no/, baseUrl);
  });

  it('the client refuses an id that no path can carry', () => {
    const client = createAppClient({ baseUrl: 'http://127.0.0.1:1' });
    for (const id of ['', '.', '..'])
      assert.throws(() => client.revokeConnection(id, { user_id: 'u' }), /connection_id: a text/);
  });

  it('the client refuses an answer that is not JSON, and a redirection, which could carry its key elsewhere', async () => {
    for (const step of [
      { body: 'Please log in' },
      { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
    ]) {
      const { error, requests } = await against([step]);
      assert.deepEqual([error?.code, requests.length], ['unexpected_response', 1]);
    }
  });
});

it('the base URL of the client may have a path, and slashes at its end', async () => {
  await using server = await scriptedServer({ body: '{}' });
  await createAppClient({ baseUrl: `${server.url}/forecue//` }).readUsage({ month: '2026-11' });
  assert.equal(server.requests[0]?.url, '/forecue/v1/usage?month=2026-11');
});

it('a path of the client carries an id with any characters', async () => {
  await using server = await scriptedServer({ body: '{}' });
  await createAppClient({ baseUrl: server.url }).cancelPrediction('a/b?c d:é', { user_id: 'u' });
  assert.equal(server.requests[0]?.url, '/v1/predictions/a%2Fb%3Fc%20d%3A%C3%A9/cancel');
});

it('an error of the client names fields, and holds nothing of what was sent', async () => {
  const fault = {
    loc: ['body', 'draft', 'text'],
    msg: 'String should have at most 8000 characters',
    type: 'string_too_long',
    ctx: { max_length: 8000 },
    input: 'a secret',
  };
  const { error } = await against([{ status: 422, body: JSON.stringify({ detail: [fault] }) }]);
  assert.ok(error instanceof ForecueError);
  assert.deepEqual([error.code, error.message], ['validation_error', `draft.text: ${fault.msg}`]);
  assert.deepEqual(error.fields, [{ loc: fault.loc, msg: fault.msg, type: fault.type, ctx: fault.ctx }]);
  assert.ok(!JSON.stringify({ ...error, message: error.message, stack: error.stack }).includes('secret'));
});
