import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
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

  // What the answer to a caller shows of other faults: `promises/suggested-or-abstained`.
  const faults: [name: string, step: fake.Step, fault: ProviderError['fault']][] = [
    ['408', fake.status(408), 'failed'],
    ['409', fake.status(409), 'failed'],
    ['a switch of protocols', fake.switchProtocols(), 'failed'],
    ['choices that are not a list', fake.json({ choices: 'many' }), 'failed'],
    ['a choice without message', fake.json({ choices: [{ index: 0 }] }), 'failed'],
    ['an error body of 20 MB', fake.status(500, {}, 'x'.repeat(20_000_000)), 'failed'],
    ['no answer in time', fake.hang(), 'timeout'],
    ['a body that drips', fake.drip(20), 'timeout'],
    ['an error body that never ends', stalledError(), 'timeout'],
  ];
  for (const [name, step, fault] of faults)
    it(`the openai provider reports ${fault} if the response is: ${name}`, async () => {
      server.respond(step);
      const timeoutMs = fault === 'timeout' ? 150 : 2000;
      const error = await faultOf(provider.predict(task, call({ timeoutMs })));
      assert.equal(error.fault, fault);
      // An error that may mean a parameter is asked about once more, without the optional ones.
      assert.equal(server.calls.length, name === '409' ? 2 : 1);
    });

  const bodies: [name: string, step: fake.Step, message: string][] = [
    ['an empty body', fake.empty(), 'unusable answer: an empty body'],
    ['HTML', fake.html(), 'unusable answer: HTML'],
    ['truncated JSON', fake.truncatedJson(), 'unusable answer: truncated JSON'],
    ['words', fake.raw('Sign in'), 'unusable answer: no JSON'],
    [
      'a truncated stream',
      fake.raw(events([{ content: '{"ne' }], false)),
      'unusable answer: a truncated stream',
    ],
    ['a body that breaks off', fake.reset(), 'unusable answer: it broke off'],
    ['a gzip bomb', packed(gzipSync(Buffer.alloc(20_000_000, ' ')), 'gzip'), 'unusable answer: too large'],
    ['no gzip', packed(Buffer.from('{}'), 'gzip'), 'unusable answer: it broke off'],
    ['HTML with 403', body(403, '<html>blocked</html>'), 'PermissionDeniedError 403 HTML'],
    ['words with 500', body(500, 'no upstream'), 'InternalServerError 500 no JSON'],
    ['no body with 500', body(500, ''), 'InternalServerError 500'],
  ];
  for (const [name, step, message] of bodies)
    it(`the openai provider names the kind of an unusable body, without its text: ${name}`, async () => {
      server.respond(step);
      assert.equal((await faultOf(provider.predict(task, call()))).message, message);
    });

  const content = '{"next":"4 with care"}';
  const written = { choices: [{ message: { content } }] };
  const parts = [...content].map((part) => ({ content: part }));
  const inParts = (...list: unknown[]) => fake.message({ content: list });
  const text = { type: 'text', text: content };
  const forms: [name: string, step: fake.Step][] = [
    [
      'content as a list of texts',
      inParts({ type: 'text', text: '{"next":"4 with' }, { type: 'text', text: ' care"}' }),
    ],
    [
      'content with thoughts before the text',
      inParts({ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }, text),
    ],
    ['events', fake.raw(events(parts), 'text/event-stream')],
    [
      'events as JSON, with CRLF and comments',
      fake.raw(`: PROCESSING\r\n\r\n${events(parts).replaceAll('\n', '\r\n')}`),
    ],
    ['events without an end mark', fake.raw(events(parts, 'stop'))],
    ['a whole answer as one event', fake.raw(`data: ${JSON.stringify(written)}\n\ndata: [DONE]\n\n`)],
    ['an answer after blank lines', fake.raw(`\n   \n\n${JSON.stringify(written)}`)],
    ['an answer after a byte order mark', fake.raw(`\ufeff${JSON.stringify(written)}`)],
    ...(
      [
        ['gzip', gzipSync],
        ['x-gzip', gzipSync],
        ['deflate', deflateSync],
        ['deflate', deflateRawSync],
        ['br', brotliCompressSync],
      ] as const
    ).map(([encoding, pack]): [string, fake.Step] => [
      `${encoding} by ${pack.name}`,
      packed(pack(JSON.stringify(written)), encoding),
    ]),
    ['an answer that stands for thoughts', fake.message({ content: null, reasoning_content: content })],
    ['no role, usage or reason of the end', fake.json(written)],
  ];
  for (const [name, step] of forms)
    it(`the openai provider reads ${name}`, async () => {
      server.respond(step);
      assert.equal((await provider.predict(task, call())).completion, ' with care');
      assert.equal(server.calls[0]?.body['stream'], false);
    });

  const insides = `
code 429 | {"error":{"code":429}} | rate_limited true 7000
code 502 | {"error":{"code":502,"message":"Provider returned error"}} | failed true 7000
code 401 | {"error":{"code":401}} | not_configured false 7000
a code as a text | {"error":{"code":"503"}} | failed true 7000
no code | {"error":"model runner has unexpectedly stopped"} | failed true 7000
an object that is an error | {"object":"error","code":429,"message":"slow down"} | rate_limited true 7000
a list | [{"error":{"code":429}}] | rate_limited true 7000
finish_reason error | {"choices":[{"finish_reason":"error","message":{"content":"4 with"}}]} | failed true 7000
an error of the choice | {"choices":[{"error":{"code":429},"message":{"content":""}}]} | rate_limited true 7000
an error among events | data: {"error":{"code":429}} | rate_limited true 7000`;
  for (const [name = '', answer = '', expected] of rowsOf(insides))
    it(`the openai provider treats an error inside a 200 as that error: ${name}`, async () => {
      server.respond(body(200, answer, { 'retry-after': '7' }));
      const { fault, outage, retryAfterMs } = await faultOf(provider.predict(task, call()));
      assert.equal(`${fault} ${outage} ${retryAfterMs}`, expected);
    });

  // The parameters or formats that the server refuses (all: it answers so in any case), its answer, what the person
  // sees or the fault, and the number of requests for the first draft and the second.
  const servers = `
OpenAI, a model that reasons | max_tokens | 400 {"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}} | with care | 2 1
OpenAI, a model that does not reason | reasoning_effort | 400 {"error":{"message":"Unrecognized request argument supplied: reasoning_effort"}} | with care | 2 1
OpenAI, another effort | reasoning_effort | 400 {"error":{"message":"Unsupported value: 'low' is not supported with the 'gpt-5-chat' model.","param":"reasoning_effort","code":"unsupported_value"}} | with care | 2 1
OpenAI, no probabilities | logprobs | 403 {"error":{"message":"You are not allowed to request logprobs from this model"}} | with care | 2 1
OpenAI, no credits | all | 429 {"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}} | rate_limited | 1 1
Azure, a cache key | prompt_cache_key | 400 {"error":{"message":"Unrecognized request argument supplied: prompt_cache_key"}} | with care | 2 1
Azure, a filtered prompt | all | 400 {"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","param":"prompt","code":"content_filter"}} | | 1 1
Azure, no such deployment | all | 404 {"error":{"code":"404","message":"Resource not found"}} | failed | 2 2
Gemini, a cache key | prompt_cache_key | 400 [{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \\"prompt_cache_key\\": Cannot find field.","status":"INVALID_ARGUMENT"}}] | with care | 2 1
Gemini, a model that does not think | reasoning_effort | 400 [{"error":{"code":400,"message":"Thinking budget is not supported for this model.","status":"INVALID_ARGUMENT"}}] | with care | 2 1
Gemini, no probabilities | logprobs | 400 [{"error":{"code":400,"message":"Logprobs is not enabled for models/gemini-2.5-flash","status":"INVALID_ARGUMENT"}}] | with care | 2 1
Gemini, a wrong key | all | 400 [{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}] | not_configured | 1 1
Mistral, two parameters at once | reasoning_effort | 422 {"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","prompt_cache_key"]},{"type":"extra_forbidden","loc":["body","reasoning_effort"]}]}} | with care | 2 1
Mistral, a model that reasons | all | 200 {"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"{\\"next\\":\\"4 with care\\"}"}]}}]} | with care | 1 1
vLLM, an unknown field | prompt_cache_key | 422 {"detail":[{"type":"extra_forbidden","loc":["body","prompt_cache_key"],"msg":"Extra inputs are not permitted"}]} | with care | 2 1
vLLM, a schema | json_schema | 400 {"object":"error","message":"The provided JSON schema contains features not supported by xgrammar.","type":"BadRequestError","code":400} | with care | 2 1
vLLM, a long context | all | 400 {"object":"error","message":"This model's maximum context length is 2048 tokens. However, you requested 2500 tokens.","code":400} | failed | 1 1
vLLM, a parser of thoughts | all | 200 {"choices":[{"message":{"content":null,"reasoning_content":"{\\"next\\":\\"4 with care\\"}"}}]} | with care | 1 1
Ollama, a model that does not think | reasoning_effort | 400 {"error":{"message":"\\"llama3.1:8b\\" does not support thinking","type":"invalid_request_error"}} | with care | 2 1
Ollama, another effort | reasoning_effort | 400 {"error":{"message":"think value \\"low\\" is not supported for this model","type":"api_error"}} | with care | 2 1
Ollama, no such model | all | 404 {"error":{"message":"model 'gpt-x' not found","type":"not_found_error"}} | failed | 2 2
llama.cpp, loading | all | 503 {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}} | failed | 1 1
llama.cpp, a long context | all | 400 {"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}} | failed | 1 1
LM Studio, no formats | json_schema json_object | 400 {"error":"'response_format.type' must be 'text'"} | with care | 3 1
Groq, a cache key | prompt_cache_key | 400 {"error":{"message":"property 'prompt_cache_key' is unsupported","type":"invalid_request_error"}} | with care | 2 1
Groq, another effort | reasoning_effort | 400 {"error":{"message":"\`reasoning_effort\` must be one of \`none\` or \`default\`"}} | with care | 2 1
Groq, no schemas | json_schema | 400 {"error":{"message":"This model does not support response format \`json_schema\`."}} | with care | 2 1
Groq, a text that is no JSON | all | 400 {"error":{"message":"Failed to validate JSON. Please adjust your prompt.","code":"json_validate_failed","failed_generation":"4 with care"}} | with care | 1 1
DeepSeek, no schemas | json_schema | 400 {"error":{"message":"This response_format type is unavailable now","code":"invalid_request_error"}} | with care | 2 1
Anthropic, no formats | all | 200 {"choices":[{"message":{"content":"4 with care"}}]} | with care | 1 1
Anthropic, overloaded | all | 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}} | failed | 1 1
OpenRouter, an error in a 200 | all | 200 {"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"x"}}} | failed | 1 1
OpenRouter, no credits | all | 402 {"error":{"message":"Insufficient credits","code":402}} | failed | 1 1
OpenRouter, no provider for the parameters | prompt_cache_key | 404 {"error":{"message":"No endpoints found that can handle the requested parameters.","code":404}} | with care | 2 1
a server that says nothing | prompt_cache_key | 400 Bad Request | with care | 2 1
a server in another language | reasoning_effort | 422 {"fehler":"Ungültige Anfrage"} | with care | 2 1`;
  for (const [name = '', parameters = '', answer = '', result, requests] of rowsOf(servers))
    it(`the openai provider copes with what servers answer: ${name}`, async () => {
      const fresh = openai(server.url);
      const refused = parameters.split(' ');
      const refusal = body(Number(answer.slice(0, 3)), answer.slice(4));
      server.respond((response, upstream) => {
        const format = (upstream.body['response_format'] as { type?: string } | undefined)?.type ?? '';
        const isRefused = refused.some((one) => one === 'all' || one === format || one in upstream.body);
        return (isRefused ? refusal : fake.ok())(response, upstream);
      });
      const counts = [];
      for (const before of [0, Number(requests?.[0])]) {
        const prediction = fresh.predict(task, call({ cacheKey: 'line' }));
        const seen = await prediction.then(
          ({ completion }) => completion.trim(),
          (error) => error.fault,
        );
        assert.equal(seen, result);
        counts.push(server.calls.length - before);
      }
      assert.equal(counts.join(' '), requests);
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

  const usages: [name: string, usage: unknown][] = [
    ['missing', undefined],
    ['null', null],
    ['negative', { prompt_tokens: -1, completion_tokens: -5 }],
    ['absurdly large', { prompt_tokens: 1e300, completion_tokens: 2 ** 53 }],
    ['fractional', { prompt_tokens: 1.5, completion_tokens: 0.5 }],
    ['not a number', { prompt_tokens: '12', completion_tokens: {} }],
    ['without that of the prompt', { completion_tokens: 5 }],
    ['absurdly large for the prompt alone', { prompt_tokens: 1e9, completion_tokens: 5 }],
  ];
  for (const [name, usage] of usages)
    it(`the openai provider counts no tokens if the usage in the answer is ${name}`, async () => {
      server.respond(fake.ok({ usage }));
      assert.deepEqual((await provider.predict(task, call())).usage, noUsage);
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

/** Returns the cells of a table whose columns are separated by bars. */
function rowsOf(table: string): string[][] {
  return table
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()));
}

/** Sends these bytes as a body. */
function body(status: number, bytes: string | Buffer, headers: Record<string, string> = {}): fake.Step {
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes);
}

function packed(bytes: Buffer, encoding: string): fake.Step {
  return body(200, bytes, { 'content-encoding': encoding });
}

/** Writes a stream of events with these deltas, and with an end mark, a reason of its end, or neither. */
function events(deltas: readonly object[], end: 'stop' | boolean = true): string {
  const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
  const last = end === 'stop' ? [{ choices: [{ index: 0, delta: {}, finish_reason: end }] }] : [];
  const lines = [...chunks, ...last].map((chunk) => `data: ${JSON.stringify(chunk)}`);
  return [...lines, ...(end === true ? ['data: [DONE]'] : [])].map((line) => `${line}\n\n`).join('');
}
