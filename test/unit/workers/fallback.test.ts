import assert from 'node:assert/strict';
import { type CallLimits, type Provider, ProviderError } from '../../../workers/providers/provider.ts';
import { createProviders } from '../../../workers/providers/providers.ts';
import { anyCharge } from '../../support/charge.ts';
import * as fake from '../../support/fake-provider.ts';

const task = {
  mode: 'complete_draft',
  draft: 'Please summarise the report',
  draftHead: '',
  messages: [{ role: 'user', content: 'Please summarise the report today', origin: 'human' }],
  artifact: null,
  language: 'auto',
  preferences: '',
  memory: null,
} as const;

describe('fallback models', () => {
  const server = fake.useFakeProvider();
  beforeEach(() => server.reset());

  /** Makes a provider whose models in `down` answer with `step`, and whose other models answer as usual. */
  function start(fallbackModels: string[], step: fake.Step, ...down: string[]): Provider {
    server.respond((response, call) =>
      (down.includes(call.body.model ?? '') ? step : fake.ok())(response, call),
    );
    const openai = { apiKey: 'sk-x', baseUrl: server.url };
    return createProviders({ openai, fallbackModels })('first');
  }

  const call = (timeoutMs = 2000): CallLimits => {
    const { signal } = new AbortController();
    return { model: 'first', signal, timeoutMs, charge: anyCharge };
  };
  const askedModels = () => server.calls.map(({ body }) => body.model);

  it('fallback models are asked in order during outages and rate limits, and the answer names the model that answered', async () => {
    for (const step of [fake.status(503), fake.status(429), fake.reset()]) {
      server.reset();
      const provider = start(['second', 'third'], step, 'first', 'second');
      const { model, completion } = await provider.predict(task, call());
      assert.deepEqual(
        [model, completion, askedModels()],
        ['third', ' with care', ['first', 'second', 'third']],
      );
    }
  });

  it('fallback models are not asked after a faulty request, a wrong key, an unusable answer or a refusal', async () => {
    for (const step of [fake.status(400), fake.status(401), fake.message({ content: '{}' })]) {
      server.reset();
      await assert.rejects(start(['second'], step, 'first').predict(task, call()), ProviderError);
      assert.deepEqual([...new Set(askedModels())], ['first']);
    }
    server.reset();
    assert.equal((await start(['second'], fake.refusal(), 'first').predict(task, call())).completion, '');
    assert.deepEqual(askedModels(), ['first']);
  });

  it('if no fallback model answers, the call fails with the fault of the first model', async () => {
    const provider = start(['second'], fake.status(500), 'second');
    server.next(fake.status(429));
    await assert.rejects(provider.predict(task, call()), { fault: 'rate_limited' });
    assert.deepEqual(askedModels(), ['first', 'second']);
  });

  it("no fallback model is asked after the first model has used up the call's time limit", async () => {
    const provider = start(['second'], fake.hang(), 'first');
    const since = performance.now();
    await assert.rejects(provider.predict(task, call(300)), { fault: 'timeout' });
    assert.ok(performance.now() - since < 1000);
    assert.deepEqual(askedModels(), ['first']);
  });

  it('the built-in predictor as the last fallback model answers during outages, but not after a wrong API key', async () => {
    const provider = start(['second', 'local'], fake.status(500), 'first', 'second');
    assert.deepEqual(
      [
        await provider.predict(task, call()).then(({ model, completion }) => [model, completion]),
        askedModels(),
      ],
      [
        ['local', ' today'],
        ['first', 'second'],
      ],
    );
    await assert.rejects(start(['local'], fake.status(401), 'first').predict(task, call()), {
      fault: 'not_configured',
    });
  });
});
