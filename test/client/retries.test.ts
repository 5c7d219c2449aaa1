import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AppClient, ForecueError } from '../../client/src/v1.ts';
import { predictionBody } from '../support/client.ts';
import { type CreateClient, describeEachClient } from '../support/each-client.ts';
import { listen } from '../support/listening.ts';
import { refusal, type ScriptedAnswer, startScriptedServer } from '../support/scripted-server.ts';

const ANSWER = { body: JSON.stringify({ status: 'suggested', completion: 'the team' }) };
const GATEWAY = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' };

async function callScripted(
  create: CreateClient,
  steps: ScriptedAnswer[],
  call = (client: AppClient): Promise<unknown> =>
    client.predict({ ...predictionBody(), mode: 'next_prompt' }),
) {
  await using server = await startScriptedServer(...steps);
  const client = create({ baseUrl: server.url, appKey: 'fc_test' });
  const since = performance.now();
  const outcome = await call(client).then(
    (answer) => ({ answer }),
    (error: ForecueError) => ({ error }),
  );
  const { answer, error } = { answer: undefined, error: undefined, ...outcome };
  return { answer, error, requests: server.requests, tookMs: performance.now() - since };
}

describeEachClient('client retries', (create) => {
  it('the client retries a prediction whose connection is cut, with the same body and `Prefer: wait`', async () => {
    const { answer, requests } = await callScripted(create, [undefined, undefined, ANSWER]);
    assert.deepEqual(answer, JSON.parse(ANSWER.body));
    assert.equal(requests.length, 3);
    assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
    for (const { headers } of requests) assert.equal(headers['prefer'], 'wait');
  });

  it('the client retries a prediction that a proxy answers with 502, and finally fails with unexpected_response', async () => {
    assert.deepEqual((await callScripted(create, [GATEWAY, ANSWER])).answer, JSON.parse(ANSWER.body));
    const { error, requests } = await callScripted(create, [GATEWAY]);
    assert.deepEqual([error?.code, error?.status, requests.length], ['unexpected_response', 502, 4]);
  });

  it('the client does not retry before the time in Retry-After', async () => {
    const { answer, tookMs } = await callScripted(create, [
      refusal(429, 'rate_limited', { 'retry-after': '1' }),
      ANSWER,
    ]);
    assert.ok(answer);
    assert.ok(tookMs >= 1000, `${tookMs} ms`);
  });

  it("the client fails at once if Retry-After exceeds the call's time limit, and reports the Retry-After", async () => {
    const { error, requests, tookMs } = await callScripted(create, [
      refusal(503, 'overloaded', { 'retry-after': '60' }),
    ]);
    assert.deepEqual([error?.code, error?.retryAfter, requests.length], ['overloaded', 60, 1]);
    assert.equal(error?.remedy, 'retry');
    assert.ok(tookMs < 30_000);
  });

  it('the client does not retry an error that a retry cannot fix, such as 401, 402, 409 or 502 provider_failed', async () => {
    for (const [status, code] of [
      [401, 'invalid_app_key'],
      [402, 'sandbox_exhausted'],
      [409, 'idempotency_conflict'],
      [502, 'provider_failed'],
    ] as const) {
      const { error, requests } = await callScripted(create, [refusal(status, code)]);
      assert.deepEqual([error?.code, error?.status, requests.length], [code, status, 1]);
    }
  });

  it('the client retries a call that is not idempotent only if the server refused it before doing anything (429)', async () => {
    const start = (client: AppClient) =>
      client.startConnection({
        user_id: 'u',
        redirect_uri: 'https://a.example/',
        state: 's',
        code_challenge: 'c',
      });
    const lost = await callScripted(create, [undefined], start);
    assert.deepEqual([lost.error?.code, lost.requests.length], ['network_error', 1]);
    assert.equal(
      (await callScripted(create, [refusal(503, 'service_unavailable')], start)).requests.length,
      1,
    );
    assert.equal(
      (await callScripted(create, [refusal(429, 'rate_limited'), { body: '{}' }], start)).requests.length,
      2,
    );
  });

  it('the client makes only 20 retries in all when 60 calls fail', async () => {
    await using server = await startScriptedServer(undefined);
    const client = create({ baseUrl: server.url, retries: 2, appKey: 'fc_test' });
    const calls = Array.from({ length: 60 }, () => client.readUsage().catch(() => {}));
    await Promise.all(calls);
    assert.equal(server.requests.length, 60 + 20);
  });

  it('the client fails with the error code `timeout` if the server does not answer within `timeoutMs`', async () => {
    await using server = await listen(createServer(() => {}));
    const client = create({ baseUrl: server.url });
    await assert.rejects(client.readUsage({}, { timeoutMs: 50 }), { code: 'timeout', status: 0 });
  });

  it('the client refuses an id that cannot be part of a path, such as `..`', async () => {
    const client = create({ baseUrl: 'http://127.0.0.1:1' });
    for (const id of ['', '.', '..'])
      await assert.rejects(
        async () => client.revokeConnection(id, { user_id: 'u' }),
        /connection_id: a text/,
      );
  });

  it('the client refuses an invalid base URL before it sends anything, and says why', async () => {
    const use = (baseUrl: string) =>
      assert.rejects.bind(undefined, async () => create({ baseUrl }).readUsage());
    for (const baseUrl of ['localhost:8080', 'forecue.example.com', '', 'ftp://a.example'])
      await use(baseUrl)(/base_?url: not an http or https address/i, baseUrl);
    for (const baseUrl of [
      'https://user:secret@a.example',
      'https://a.example/?key=1',
      'https://a.example/#a',
    ])
      await use(baseUrl)(/base_?url: an address has no/i, baseUrl);
  });

  it('the client refuses redirects and answers that are not JSON', async () => {
    for (const step of [
      { body: 'Please log in' },
      { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
      // Validation errors of other servers.
      ...[['no'], [null], [{ msg: 'no' }], [{ loc: [], msg: 'no' }]].map((detail) => ({
        status: 422,
        body: JSON.stringify({ detail }),
      })),
    ]) {
      const { error, requests } = await callScripted(create, [step]);
      assert.deepEqual([error?.code, requests.length], ['unexpected_response', 1]);
    }
  });

  it('the client refuses an idempotency key that no header can carry, before it sends anything', async () => {
    await using server = await startScriptedServer({ body: '{}' });
    const client = create({ baseUrl: server.url, credential: 'service_key' });
    for (const idempotencyKey of ['ключ', 'a\r\nx-other: 1'])
      await assert.rejects(
        async () => client.predictReply({ agent: 'coder', agent_input: 'Tabs?' }, { idempotencyKey }),
        /idempotency_?key: /i,
      );
    assert.deepEqual(server.requests, []);
  });

  it("the client's base URL may have a path and trailing slashes", async () => {
    await using server = await startScriptedServer({ body: '{}' });
    await create({ baseUrl: `${server.url}/forecue//` }).readUsage({ month: '2026-11' });
    assert.equal(server.requests[0]?.url, '/forecue/v1/usage?month=2026-11');
  });

  it('the client generates a request_id, event_id and idempotency key if a call passes undefined', async () => {
    await using server = await startScriptedServer({ body: '{}' });
    const client = create({ baseUrl: server.url, credential: 'service_key' });
    await client.predict({ ...predictionBody(), mode: 'next_prompt', request_id: undefined });
    const event = { request_id: 'r', user_id: 'u', kind: 'accepted' as const };
    await client.recordPredictionEvent({ ...event, event_id: undefined });
    await client.predictReply({ agent: 'coder', agent_input: 'Tabs?' }, { idempotencyKey: undefined });
    const [prediction, recorded, reply] = server.requests;
    const generated = [
      JSON.parse(prediction?.body ?? '').request_id,
      JSON.parse(recorded?.body ?? '').event_id,
      reply?.headers['idempotency-key'],
    ];
    for (const one of generated) assert.match(String(one), /^[0-9a-f-]{36}$/);
  });

  it('a validation error of the client names the fields, and contains none of the values that were sent', async () => {
    const fault = {
      loc: ['body', 'draft', 'text'],
      msg: 'String should have at most 8000 characters',
      type: 'string_too_long',
      ctx: { max_length: 8000 },
      input: 'a secret',
    };
    const { error } = await callScripted(create, [
      { status: 422, body: JSON.stringify({ detail: [fault] }) },
    ]);
    assert.ok(error instanceof ForecueError);
    assert.deepEqual([error.code, error.message], ['validation_error', `draft.text: ${fault.msg}`]);
    assert.deepEqual(error.fields, [{ loc: fault.loc, msg: fault.msg, type: fault.type, ctx: fault.ctx }]);
    assert.ok(!JSON.stringify({ ...error, message: error.message, stack: error.stack }).includes('secret'));
  });
});
