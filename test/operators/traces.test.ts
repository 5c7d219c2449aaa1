import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { issueKey, signUp } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { type CollectedSpan, startCollector } from '../support/collector.ts';
import { duringSuite } from '../support/during-suite.ts';
import { json, ok, status, when } from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { startProcesses, useProcesses } from '../support/system.ts';
import { callTool, openSession, startToolServer } from '../support/tool-server.ts';
import { until } from '../support/until.ts';

/** Outline of the trace of a prediction with a single attempt. */
const ONE_ATTEMPT = `
POST /v1/predictions server
  admit predict producer
    process predict consumer
      chat fake-model client
    queue predict internal`;

describe('traces of predictions', () => {
  const collector = duringSuite(startCollector);
  const system = useProcesses(() => ({
    workerEntry: ['workers/main.ts', 'all'],
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      LEASE_MS: '3000',
      PREDICTION_TIMEOUT_MS: '60000',
    },
  }));
  let app: AppClient;
  before(async () => {
    app = await system.app();
  });
  beforeEach(() => system.provider.reset());

  const predict = (caller: Caller, body: object) => app.predict(body, { headers: headersOf(caller) });

  it("a prediction's trace leads from the caller through admission, queue and worker to the provider", async () => {
    const caller = newCaller();
    const usage = { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
    system.provider.next(ok({ usage }));
    const { body } = await predict(caller, predictionBody());
    const spans = await collector.trace(caller.traceId, 5);
    assert.equal(outlineOf(spans), ONE_ATTEMPT);
    const [request, admission, attempt, call] = ['POST', 'admit', 'process', 'chat'].map((name) =>
      spanNamed(spans, name),
    );
    assert.equal(request?.parent, caller.spanId);
    const work = {
      'forecue.work.id': body.prediction_id,
      'forecue.work.kind': 'predict',
      'forecue.work.attempt': 1,
    };
    assert.deepEqual(
      pick(request?.attributes, ['http.request.method', 'http.route', 'http.response.status_code']),
      {
        'http.request.method': 'POST',
        'http.route': '/v1/predictions',
        'http.response.status_code': 200,
      },
    );
    assert.deepEqual(admission?.attributes, {
      ...work,
      'forecue.admission': 'admitted',
      'forecue.work.superseded': [],
    });
    assert.deepEqual(attempt?.attributes, { ...work, 'forecue.work.end': 'suggested' });
    assert.deepEqual(call?.attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'fake-model',
      'gen_ai.request.max_tokens': 128,
      'gen_ai.output.type': 'json',
      'gen_ai.response.model': 'fake',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.output_tokens': 5,
      'forecue.provider.outcome': 'answered',
    });
    assert.deepEqual(pick(request?.resource, ['service.name', 'deployment.environment.name']), {
      'service.name': 'forecue-web',
      'deployment.environment.name': 'test',
    });
    assert.equal(attempt?.resource['service.name'], 'forecue-all');
    const sent = system.provider.calls[0]?.headers['traceparent'];
    assert.equal(sent, `00-${caller.traceId}-${call?.id}-01`);
  });

  it('log lines of ingress and worker about a prediction contain the id of its trace', async () => {
    const caller = newCaller();
    system.provider.next(status(500));
    await predict(caller, predictionBody());
    const logs = () =>
      [...system.webs, ...system.workers].map(({ log }) =>
        log.split('\n').filter((line) => line.includes(`"traceId":"${caller.traceId}"`)),
      );
    const [ofWeb, ofWorker] = await until(() => logs().every((lines) => lines.length > 0) && logs());
    assert.match(ofWeb?.[0] ?? '', /"msg":"request"/);
    assert.match(ofWorker?.[0] ?? '', /"msg":"provider failed"/);
  });

  it('the trace of a repeated request links to the attempt that failed, or whose answer is replayed', async () => {
    const [first, second, third] = [newCaller(), newCaller(), newCaller()];
    const body = predictionBody();
    system.provider.next(status(500));
    assert.equal((await predict(first, body)).status, 502);
    assert.equal((await predict(second, body)).status, 200);
    assert.equal((await predict(third, body)).headers.get('idempotency-replayed'), 'true');
    const failed = await collector.trace(first.traceId, 5);
    assert.equal(
      outlineOf(failed),
      `
POST /v1/predictions server failed: provider_failed
  admit predict producer
    process predict consumer failed: provider_failed
      chat fake-model client failed: failed
    queue predict internal`,
    );
    const again = await collector.trace(second.traceId, 5);
    assert.equal(outlineOf(again), ONE_ATTEMPT);
    assert.deepEqual(spanNamed(again, 'admit')?.links, [spanNamed(failed, 'admit')?.id]);
    assert.equal(spanNamed(again, 'process')?.attributes['forecue.work.attempt'], 2);
    const repeat = await collector.trace(third.traceId, 2);
    assert.deepEqual(spanNamed(repeat, 'POST')?.links, [spanNamed(again, 'admit')?.id]);
  });

  it('the trace of work taken over from a dead worker has a queue span for each attempt under one admission span', async () => {
    const caller = newCaller();
    const [victim] = system.workers.splice(0);
    const answer = Promise.withResolvers<void>();
    system.provider.respond(when(answer.promise));
    const waiting = predict(caller, predictionBody());
    await system.provider.called(1);
    // Waits until the ended spans are exported, before the worker dies.
    assert.equal((await collector.trace(caller.traceId, 2)).length, 2);
    await victim?.stop('SIGKILL');
    await system.startWorker();
    answer.resolve();
    assert.equal((await waiting).status, 200);
    const spans = await collector.trace(caller.traceId, 6);
    const attempts = (name: string) =>
      spans
        .filter((span) => span.name === name)
        .map((span) => [span.attributes['forecue.work.attempt'], span.parent]);
    const admission = spanNamed(spans, 'admit')?.id;
    assert.deepEqual(attempts('queue predict'), [
      [1, admission],
      [2, admission],
    ]);
    assert.deepEqual(attempts('process predict'), [[2, admission]]);
    assert.equal(spanNamed(spans, 'chat')?.parent, spanNamed(spans, 'process')?.id);
  });

  for (const mode of ['legacy', 'auto'] as const)
    it(`a trace leads from the caller through the tool server to the API, for a client of ${mode === 'legacy' ? 'an MCP revision with sessions' : 'the newest MCP revision'}`, async () => {
      const caller = newCaller();
      const person = await signUp(system);
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
      const server = await startToolServer(system.webs[0]?.url ?? '', env);
      const headers = headersOf(caller);
      const { client } = await openSession(server, await issueKey(person), { mode, headers });
      try {
        await callTool(client, 'stats');
        const { name, parent, resource } = await until(async () => {
          const spans = await collector.trace(caller.traceId, 2);
          const inner = spanNamed(spans, 'GET /api/memory/stats/');
          return spans.find(({ id }) => id === inner?.parent);
        });
        const service = resource['service.name'];
        assert.deepEqual([name, parent, service], ['POST /mcp', caller.spanId, 'forecue-mcp']);
      } finally {
        await client.close();
        await server.stop('SIGTERM');
      }
    });

  it('a prediction with an invalid traceparent header starts a new trace', async () => {
    const { traceId } = newCaller();
    const hostile = ['', `00-${traceId}-0000000000000000-01`, `00-${traceId}-x-01`, 'a'.repeat(5000)];
    for (const traceparent of hostile)
      assert.equal((await app.predict(predictionBody(), { headers: { traceparent } })).status, 200);
    const sent = system.provider.calls.map(({ headers }) => String(headers['traceparent']));
    assert.equal(sent.length, hostile.length);
    for (const one of sent) assert.match(one, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    assert.ok(sent.every((one) => !one.includes(traceId)));
  });

  it('traces contain no text of a person or a provider, no key, and no user_id or session_id', async () => {
    const caller = newCaller();
    const marker = 'Zanzibar marker';
    const body = predictionBody({ draft: { text: `Please send ${marker}`, revision: 1 } });
    const message = { role: 'assistant', content: JSON.stringify({ next: `0 ${marker}` }) };
    const choices = [{ index: 0, finish_reason: 'stop', message }];
    system.provider.next(json({ model: `model of ${marker}`, choices }));
    const headers = { ...headersOf(caller), tracestate: 'vendor=Zanzibar', baggage: 'name=Zanzibar' };
    await app.predict(body, { headers });
    assert.equal((await collector.trace(caller.traceId, 5)).length, 5);
    const { tracestate, baggage } = system.provider.calls[0]?.headers ?? {};
    assert.deepEqual([tracestate, baggage], [undefined, undefined]);
    for (const secret of ['Zanzibar', app.key, 'sk-test', body.user_id, body.session_id])
      assert.equal(collector.received.includes(secret), false, 'a secret is in a span');
  });
});

describe('collector outage', () => {
  it('a process whose trace collector is down answers as usual, logs the outage once, and can be stopped', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      // Ends the exporter's retries after half a second.
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    };
    await using system = await startProcesses({ env });
    const app = await system.app();
    for (let n = 0; n < 3; n += 1) assert.equal((await app.predict(predictionBody())).status, 200);
    const [web] = system.webs;
    const countReports = () => (web?.log.split('the collector takes no traces').length ?? 1) - 1;
    await until(() => countReports() === 1, 60_000);
    assert.equal((await app.predict(predictionBody())).status, 200);
    await web?.stop('SIGTERM');
    assert.equal(web?.child.exitCode, 0);
    assert.equal(countReports(), 1);
  });
});

describe('process with tracing disabled', () => {
  const withSdkForbidden = {
    NODE_OPTIONS: `--import=${new URL('../support/no-tracing-sdk.ts', import.meta.url)}`,
  };

  it('a process with tracing disabled loads no OpenTelemetry SDK, exports nothing, and passes no trace context on', async () => {
    await using collector = await startCollector();
    const disabled = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' };
    await using system = await startProcesses({ env: { ...withSdkForbidden, ...disabled } });
    const app = await system.app();
    const { status } = await app.predict(predictionBody(), { headers: headersOf(newCaller()) });
    assert.equal(status, 200);
    assert.equal(system.provider.calls[0]?.headers['traceparent'], undefined);
    assert.ok([...system.webs, ...system.workers].every(({ log }) => !log.includes('traceId')));
    // Stops all processes, which would export their last spans now.
    await Promise.all([...system.webs, ...system.workers].map((one) => one.stop('SIGTERM')));
    assert.equal(collector.received, '');
    const enabled = { OTEL_SDK_DISABLED: 'false' };
    await assert.rejects(system.startWeb(enabled), /loaded @opentelemetry/, 'the check cannot fail');
  });
});

interface Caller {
  traceId: string;
  spanId: string;
}

function newCaller(): Caller {
  return { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') };
}

function headersOf({ traceId, spanId }: Caller) {
  return { traceparent: `00-${traceId}-${spanId}-01` };
}

function outlineOf(spans: readonly CollectedSpan[], parents?: readonly string[], depth = 0): string {
  const ids = new Set(spans.map(({ id }) => id));
  const level = spans.filter(({ parent }) => (parents ? parents.includes(parent) : !ids.has(parent)));
  const lines = level
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ id, name, kind, failed, attributes }) => {
      const why = failed ? ` failed: ${attributes['error.type']}` : '';
      return `\n${'  '.repeat(depth)}${name} ${kind}${why}${outlineOf(spans, [id], depth + 1)}`;
    });
  return lines.join('');
}

function spanNamed(spans: readonly CollectedSpan[], name: string): CollectedSpan | undefined {
  return spans.find((span) => span.name.startsWith(name));
}

function pick(from: Record<string, unknown> = {}, keys: readonly string[]) {
  return Object.fromEntries(keys.map((key) => [key, from[key]]));
}
