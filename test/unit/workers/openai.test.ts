import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { PredictionTask } from '../../../shared/domain/context-envelope.ts';
import {
  type CallLimits,
  type Guess,
  type Provider,
  ProviderError,
} from '../../../workers/providers/provider.ts';
import { createProviders } from '../../../workers/providers/providers.ts';
import { anyCharge } from '../../support/charge.ts';
import * as fake from '../../support/fake-provider.ts';
import { listen } from '../../support/listening.ts';

const KEY = 'sk-the-key-that-no-log-may-show';

const task: PredictionTask = {
  mode: 'complete_draft',
  draft: 'Please summarise the report',
  draftHead: '',
  messages: [],
  artifact: null,
  language: 'auto',
  preferences: '',
  memory: null,
};

const noUsage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };

function call(fields: Partial<CallLimits> = {}): CallLimits {
  const { signal } = new AbortController();
  return { model: 'fake-model', signal, timeoutMs: 2000, charge: anyCharge, ...fields };
}

function openai(baseUrl: string): Provider {
  return createProviders({ openai: { apiKey: KEY, baseUrl } })('fake-model');
}

async function faultOf(prediction: Promise<Guess>): Promise<ProviderError> {
  const error = await prediction.then(
    (guess) => assert.fail(`answered ${JSON.stringify(guess).slice(0, 200)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderError, `threw ${error}`);
  return error;
}

describe('openai provider', () => {
  const server = fake.useFakeProvider();
  let provider: Provider;

  before(async () => {
    provider = openai(server.url);
  });
  beforeEach(() => server.reset());

  it('the openai provider sends a prediction as one question with a strict schema and the API key, and reads the answer', async () => {
    const guess = await provider.predict(task, call());
    assert.deepEqual(guess, {
      completion: ' with care',
      confidence: 0.78,
      usage: { inputTokens: 12, cachedTokens: 0, outputTokens: 5 },
      model: 'fake-model',
    });
    assert.equal(server.calls.length, 1);
    const { body, headers, record } = await server.called(1);
    assert.equal(headers.authorization, `Bearer ${KEY}`);
    assert.equal(body.model, 'fake-model');
    assert.equal(record.draft, task.draft);
    const { type, json_schema: asked } = body['response_format'] as Record<string, Record<string, unknown>>;
    assert.equal(type, 'json_schema');
    assert.equal(asked?.['strict'], true);
  });

  const faults: [name: string, step: fake.Step, fault: ProviderError['fault']][] = [
    ['400', fake.status(400), 'failed'],
    ['401', fake.status(401), 'not_configured'],
    ['403', fake.status(403), 'not_configured'],
    ['404', fake.status(404), 'failed'],
    ['408', fake.status(408), 'failed'],
    ['409', fake.status(409), 'failed'],
    ['422', fake.status(422), 'failed'],
    ['429', fake.status(429, { 'retry-after': '1' }), 'rate_limited'],
    ['500', fake.status(500), 'failed'],
    ['503', fake.status(503, { 'retry-after': '0' }), 'failed'],
    ['a switch of protocols', fake.switchProtocols(), 'failed'],
    ['a redirect', fake.status(302, { location: '/v1/chat/completions' }), 'failed'],
    ['a reset in the middle of the body', fake.reset(), 'failed'],
    ['truncated JSON', fake.truncatedJson(), 'failed'],
    ['HTML with 200', fake.html(), 'failed'],
    ['an empty body', fake.empty(), 'failed'],
    ['null', fake.json(null), 'failed'],
    ['a number', fake.json(7), 'failed'],
    ['[]', fake.json([]), 'failed'],
    ['no choices', fake.json({ choices: [] }), 'failed'],
    ['choices that are not a list', fake.json({ choices: 'many' }), 'failed'],
    ['a choice without message', fake.json({ choices: [{ index: 0 }] }), 'failed'],
    ['content that is not a string', fake.message({ content: { next: 'report' } }), 'failed'],
    ['content that is not JSON', fake.message({ content: 'and send it' }), 'failed'],
    ['content of another shape', fake.message({ content: '{"continuation":" now"}' }), 'failed'],
    ['an answer without a likelihood', fake.message({ content: '{"next":" now"}' }), 'failed'],
    ['an unknown likelihood', fake.message({ content: '{"next":"6 now"}' }), 'failed'],
    ['20 MB', fake.huge(), 'failed'],
    ['an error body of 20 MB', fake.status(500, {}, 'x'.repeat(20_000_000)), 'failed'],
    ['a completion with NUL', fake.nul(), 'failed'],
    ['a completion with a lone surrogate', fake.loneSurrogate(), 'failed'],
    ['no answer in time', fake.hang(), 'timeout'],
    ['a body that drips', fake.drip(20), 'timeout'],
    ['an error body that never ends', stalledError(), 'timeout'],
  ];
  for (const [name, step, fault] of faults)
    it(`the openai provider reports ${fault}, after one request, if the response is: ${name}`, async () => {
      server.respond(step);
      const timeoutMs = fault === 'timeout' ? 150 : 2000;
      const error = await faultOf(provider.predict(task, call({ timeoutMs })));
      assert.equal(error.fault, fault);
      assert.equal(server.calls.length, 1);
    });

  const answers: [name: string, step: fake.Step, outage: boolean][] = [
    ['204, without a body', fake.status(204), false],
    ['205, without a body', fake.status(205), false],
    ['a redirect', fake.status(302, { location: '/v1/chat/completions' }), false],
    ['304, without a body', fake.status(304), false],
    ['418', fake.status(418), false],
    ['503', fake.status(503), true],
    ['600, which HTTP reads as a 5xx', fake.status(600), true],
    ['999, which HTTP reads as a 5xx', fake.status(999), true],
  ];
  for (const [name, step, outage] of answers)
    it(`the openai provider ${outage ? 'counts' : 'does not count'} this response as an outage: ${name}`, async () => {
      server.respond(step);
      const error = await faultOf(provider.predict(task, call()));
      assert.deepEqual([error.fault, error.outage], ['failed', outage]);
    });

  it('the openai provider waits for the answer after an interim response (102), within the same time limit', async () => {
    server.respond(async (response, upstream) => {
      response.writeProcessing();
      await fake.ok()(response, upstream);
    });
    assert.equal((await provider.predict(task, call())).completion, ' with care');
    server.respond((response) => response.writeProcessing());
    assert.equal((await faultOf(provider.predict(task, call({ timeoutMs: 150 })))).fault, 'timeout');
  });

  it('the openai provider reports a refused connection as failed, with the code ECONNREFUSED', async () => {
    const closed = await fake.startFakeProvider();
    await closed.close();
    const error = await faultOf(openai(closed.url).predict(task, call()));
    assert.equal(error.fault, 'failed');
    assert.match(error.message, /ECONNREFUSED/);
  });

  const brokenConnections: [name: string, broken: fake.Step, requests: number][] = [
    ['is closed at once, without an answer', (response) => void response.destroy(), 3],
    [
      'is closed over a second after the request',
      (response) => void setTimeout(() => response.destroy(), 1100),
      2,
    ],
    [
      'is closed in the middle of the head of an answer',
      ({ socket }) => void socket?.end('HTTP/1.1 200 OK\r\n'),
      2,
    ],
  ];
  for (const [name, broken, requests] of brokenConnections)
    it(`the openai provider ${requests === 3 ? 'sends' : 'does not send'} a request again if its keep-alive connection ${name}`, async () => {
      const kept = new WeakSet<object>();
      server.respond(async (response, upstream) => {
        const { socket } = response;
        if (socket === null || kept.has(socket)) return broken(response, upstream);
        kept.add(socket);
        await fake.ok()(response, upstream);
      });
      await provider.predict(task, call());
      const second = provider.predict(task, call());
      if (requests === 3) assert.equal((await second).completion, ' with care');
      else assert.equal((await faultOf(second)).fault, 'failed');
      assert.equal(server.calls.length, requests);
    });

  it('the openai provider reports the fault failed if a keep-alive connection, and then a new one, close without an answer', async () => {
    await provider.predict(task, call());
    server.respond((response) => void response.destroy());
    assert.equal((await faultOf(provider.predict(task, call()))).fault, 'failed');
    assert.equal(server.calls.length, 1 + 2);
  });

  const parametersOf = (n: number) => {
    const { max_tokens, max_completion_tokens, reasoning_effort, prompt_cache_key } =
      server.calls[n]?.body ?? {};
    return { max_tokens, max_completion_tokens, reasoning_effort, prompt_cache_key };
  };

  it('the openai provider asks for low reasoning effort and at most 128 tokens, or 512 for a next prompt', async () => {
    await provider.predict(task, call({ cacheKey: 'line' }));
    await provider.predict({ ...task, mode: 'next_prompt' }, call());
    const asked = { max_completion_tokens: undefined, reasoning_effort: 'low' };
    assert.deepEqual(parametersOf(0), { ...asked, max_tokens: 128, prompt_cache_key: 'line' });
    assert.deepEqual(parametersOf(1), { ...asked, max_tokens: 512, prompt_cache_key: undefined });
  });

  const refusals: [name: string, step: fake.Step, left: object][] = [
    [
      'reasoning_effort',
      fake.status(400, {}, 'Unrecognized request argument supplied: reasoning_effort'),
      { reasoning_effort: undefined, prompt_cache_key: 'line' },
    ],
    [
      'prompt_cache_key',
      fake.status(422, {}, 'Extra inputs are not permitted: prompt_cache_key'),
      { reasoning_effort: 'low', prompt_cache_key: undefined },
    ],
    [
      'reasoning_effort, in the error format of another server',
      (response) => {
        const detail = [{ type: 'extra_forbidden', loc: ['body', 'reasoning_effort'] }];
        response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }));
      },
      { reasoning_effort: undefined, prompt_cache_key: 'line' },
    ],
  ];
  for (const [name, step, left] of refusals)
    it(`the openai provider leaves out a parameter that the server refuses, also in later requests: ${name}`, async () => {
      const fresh = openai(server.url);
      server.next(step);
      for (const _ of [1, 2]) await fresh.predict(task, call({ cacheKey: 'line' }));
      assert.equal(server.calls.length, 3);
      for (const n of [1, 2]) assert.partialDeepStrictEqual(parametersOf(n), left);
    });

  it('the openai provider allows more tokens after an answer cut off at its token limit, also in later requests', async () => {
    const fresh = openai(server.url);
    server.next(fake.lengthStop());
    for (const _ of [1, 2]) assert.equal((await fresh.predict(task, call())).completion, ' with care');
    assert.deepEqual(
      server.calls.map(({ body }) => body['max_tokens']),
      [128, 2176, 2176],
    );
    server.respond(fake.lengthStop());
    assert.equal((await faultOf(fresh.predict(task, call()))).fault, 'failed');
    assert.equal(server.calls.length, 4);
  });

  it('the openai provider reads the number of cached prompt tokens', async () => {
    const usage = {
      prompt_tokens: 1200,
      completion_tokens: 8,
      prompt_tokens_details: { cached_tokens: 1024 },
    };
    server.respond(fake.ok({ usage }));
    const guess = await provider.predict(task, call());
    assert.deepEqual(guess.usage, { inputTokens: 1200, cachedTokens: 1024, outputTokens: 8 });
  });

  const silences: [name: string, step: fake.Step][] = [
    ['a refusal', fake.refusal()],
    ['filtered content', fake.contentFilter()],
    ['null content', fake.message({ content: null })],
    ['blank content', fake.message({ content: ' ' })],
    ['an empty continuation', fake.ok({ continuation: '' })],
  ];
  for (const [name, step] of silences)
    it(`the openai provider treats ${name} as no suggestion, and counts its tokens`, async () => {
      server.respond(step);
      assert.deepEqual(await provider.predict(task, call()), {
        completion: '',
        confidence: 0,
        usage: { inputTokens: 12, cachedTokens: 0, outputTokens: 5 },
        model: 'fake-model',
      });
    });

  const usages: [name: string, usage: unknown][] = [
    ['missing', undefined],
    ['null', null],
    ['negative', { prompt_tokens: -1, completion_tokens: -5 }],
    ['absurdly large', { prompt_tokens: 1e300, completion_tokens: 2 ** 53 }],
    ['fractional', { prompt_tokens: 1.5, completion_tokens: 0.5 }],
    ['not a number', { prompt_tokens: '12', completion_tokens: {} }],
  ];
  for (const [name, usage] of usages)
    it(`the openai provider counts no tokens if the usage in the answer is ${name}`, async () => {
      server.respond(fake.ok({ usage }));
      assert.deepEqual((await provider.predict(task, call())).usage, noUsage);
    });

  it('the openai provider closes the socket and rejects with the abort reason when the call is aborted', async () => {
    server.respond(fake.hang());
    const abort = new AbortController();
    const reason = new Error('superseded');
    const prediction = provider.predict(task, call({ signal: abort.signal, timeoutMs: 60_000 }));
    const upstream = await server.called(1);
    const abortedAt = performance.now();
    abort.abort(reason);
    await assert.rejects(prediction, (error) => error === reason);
    assert.ok((await upstream.aborted) - abortedAt < 250);
  });

  it("the openai provider closes the socket when the call is aborted in the middle of the answer's body", async () => {
    server.respond(fake.drip(10));
    const abort = new AbortController();
    const prediction = provider.predict(task, call({ signal: abort.signal, timeoutMs: 60_000 }));
    const upstream = await server.called(1);
    setTimeout(() => abort.abort('gone'), 50);
    await assert.rejects(prediction, (error) => error === 'gone');
    await upstream.aborted;
  });

  it('the openai provider closes the socket of an answer that is too large or too late', async () => {
    for (const step of [fake.huge(), fake.hang()]) {
      server.reset();
      server.respond(step);
      await faultOf(provider.predict(task, call({ timeoutMs: 150 })));
      await (await server.called(1)).aborted;
    }
  });

  it('the openai provider accepts a time limit with a fraction of a millisecond', async () => {
    server.respond(fake.hang());
    assert.equal((await faultOf(provider.predict(task, call({ timeoutMs: 0.4 })))).fault, 'timeout');
    server.respond(fake.ok());
    assert.equal((await provider.predict(task, call({ timeoutMs: 1999.5 }))).completion, ' with care');
  });

  it('the openai provider sends nothing if the signal was aborted before the call', async () => {
    await assert.rejects(
      provider.predict(task, call({ signal: AbortSignal.abort('too late') })),
      (error) => error === 'too late',
    );
    assert.equal(server.calls.length, 0);
  });

  it("the openai provider keeps the server's message, the API key and the draft out of its error", async () => {
    server.respond(fake.status(401, {}, `Incorrect API key provided: ${KEY}; you asked: ${task.draft}`));
    const error = await faultOf(provider.predict(task, call()));
    assert.equal(error.message, 'AuthenticationError 401');
    assert.equal(error.cause, undefined);
  });

  it('the openai provider does not follow redirects, so that the API key and the draft reach no other host', async () => {
    let reached = 0;
    const counting = createServer((_, response) => {
      reached++;
      response.end('{}');
    });
    await using elsewhere = await listen(counting);
    server.respond(fake.status(307, { location: `${elsewhere.url}/v1/chat/completions` }));
    assert.equal((await faultOf(provider.predict(task, call()))).fault, 'failed');
    assert.equal(reached, 0);
  });
});

describe('createProviders', () => {
  it("without an API key, a prediction by a provider's model fails with not_configured", async () => {
    const provider = createProviders({ openai: undefined })('gpt');
    assert.equal((await faultOf(provider.predict(task, call()))).fault, 'not_configured');
  });

  it('the model `local` needs no network, even if an API key is set', async () => {
    const provider = createProviders({ openai: { apiKey: KEY, baseUrl: 'http://127.0.0.1:1/v1' } })('local');
    const messages = [
      { role: 'user', content: 'Please summarise the report today', origin: 'human' },
    ] as const;
    assert.equal((await provider.predict({ ...task, messages }, call())).completion, ' today');
  });
});

/** Sends the headers and the beginning of a 500, then nothing. */
function stalledError(): fake.Step {
  return (response) => void response.writeHead(500, { 'content-type': 'application/json' }).write('{"err');
}
