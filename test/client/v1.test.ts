import assert from 'node:assert/strict';
import { createRelay } from '../../client/src/relay.ts';
import { createAppClient } from '../../client/src/v1.ts';
import { predictionBody } from '../support/client.ts';
import { describeEachClient } from '../support/each-client.ts';
import { delay, hang, status } from '../support/fake-provider.ts';
import { startLink } from '../support/link.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const system = useSystem();

const input = () => {
  const { request_id: _, ...rest } = predictionBody();
  return { ...rest, mode: 'complete_draft' as const };
};

describeEachClient('app client', (create) => {
  beforeEach(() => system.provider.reset());

  const connect = async (baseUrl?: string) => {
    const app = await system.app({ redirectUris: ['https://app.example/back'] });
    return { app, client: create({ baseUrl: baseUrl ?? app.url, appKey: app.key }) };
  };

  it('the app client predicts, reports events and reads the usage', async () => {
    const { client } = await connect();
    const prediction = await client.predict(input());
    assert.ok(prediction.status === 'suggested');
    assert.equal(prediction.completion, 'with care');
    const event = { request_id: prediction.request_id, user_id: 'u-1', kind: 'accepted' as const };
    assert.deepEqual(await client.recordPredictionEvent(event), { status: 'recorded' });
    assert.equal((await client.readUsage()).prediction_units, 1);
    assert.deepEqual(await client.cancelPrediction(prediction.request_id, { user_id: 'u-1' }), {
      status: 'suggested',
      prediction_units: 1,
    });
  });

  it('the app client retries after a cut connection and gets the same prediction, which costs one unit', async () => {
    system.provider.respond(delay(300));
    await using link = await startLink(system.webs[0]?.url ?? '', {
      before() {
        if (link.requests.length === 1) system.provider.called(1).then(link.cut);
      },
    });
    const { app, client } = await connect(link.url);
    let replayed: string | null = null;
    const prediction = await client.predict(input(), {
      onResponse: ({ headers }) => {
        replayed = headers.get('idempotency-replayed');
      },
    });
    assert.ok(prediction.status === 'suggested');
    assert.deepEqual([link.requests.length, system.provider.calls.length, replayed], [2, 1, 'true']);
    assert.equal((await app.usage()).body.prediction_units, 1);
    const rows = await system.sql('select id from history where party = $1', [app.id]);
    assert.deepEqual(rows, [{ id: prediction.prediction_id }]);
  });

  it("the app client cancels a prediction on the server when the call's signal is aborted, and the unit is refunded", async () => {
    system.provider.respond(hang());
    const { app, client } = await connect();
    const left = new AbortController();
    const request_id = 'left-1';
    const predicting = client.predict({ ...input(), request_id }, { signal: left.signal });
    const call = await system.provider.called(1);
    left.abort();
    await assert.rejects(predicting, { name: 'AbortError' });
    await call.aborted;
    assert.equal((await app.cancel(request_id, 'u-1')).body.status, 'cancelled');
    assert.equal((await app.usage()).body.reserved_units, 0);
  });

  it('the app client cancels a prediction even if the cancellation reaches the server before the prediction', async () => {
    const overtaken = Promise.withResolvers<void>();
    await using link = await startLink(system.webs[0]?.url ?? '', {
      before: ({ path }) => (path.endsWith('/cancel') ? undefined : overtaken.promise),
      after({ path }, status) {
        if (path.endsWith('/cancel') && status === 404) overtaken.resolve();
      },
    });
    const { app, client } = await connect(link.url);
    system.provider.respond(hang());
    const left = new AbortController();
    const request_id = 'overtaken-1';
    const predicting = client.predict({ ...input(), request_id }, { signal: left.signal });
    await until(() => link.requests.length === 1);
    left.abort();
    await assert.rejects(predicting, { name: 'AbortError' });
    await until(async () => (await app.cancel(request_id, 'u-1')).body?.status === 'cancelled');
    await until(async () => (await app.usage()).body.reserved_units === 0);
  });

  it('the app client resolves with the status `cancelled` or `superseded` for such predictions', async () => {
    system.provider.respond(hang());
    const { app, client } = await connect();
    const first = client.predict({ ...input(), session_id: 's', request_id: 'first' });
    await system.provider.called(1);
    const second = client.predict({
      ...input(),
      session_id: 's',
      request_id: 'second',
      draft: { text: 'Now ', revision: 2 },
    });
    assert.deepEqual(await first, { status: 'superseded', request_id: 'first' });
    await system.provider.called(2);
    await app.cancel('second', 'u-1');
    assert.deepEqual(await second, { status: 'cancelled', request_id: 'second' });
  });

  it("the app client reports an error's code, its request id and a remedy", async () => {
    const { client } = await connect();
    system.provider.respond(status(401));
    await assert.rejects(client.predict(input()), ({ code, status, remedy, requestId }) => {
      assert.deepEqual([code, status, remedy], ['provider_not_configured', 503, 'report']);
      return typeof requestId === 'string';
    });
    const stranger = create({ baseUrl: system.webs[0]?.url ?? '', appKey: 'fc_wrong' });
    await assert.rejects(stranger.predict(input()), { code: 'invalid_app_key', remedy: 'authenticate' });
    await assert.rejects(client.predict({ ...input(), user_id: '' }), /^ForecueError: user_id: /);
  });
});

it("the app client sends nothing if the caller's signal is already aborted", async () => {
  await using link = await startLink(system.webs[0]?.url ?? '');
  const client = createAppClient({ baseUrl: link.url });
  const reason = new Error('left');
  await assert.rejects(client.predict(input(), { signal: AbortSignal.abort(reason) }), reason);
  await assert.rejects(client.readUsage({}, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(link.requests.length, 0);
});

it('the app client asks for alternatives by a header, and reads those of the answer, also through a relay, which adds the connection', async () => {
  const asked: (string | null)[] = [];
  const answer = { ...predictionBody(), status: 'suggested', completion: 'here' };
  const bodies: Record<string, unknown>[] = [];
  const server: typeof fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    asked.push(new Headers(init?.headers).get('prefer'));
    const headers = { 'forecue-alternatives': '%"there", %"%c3%bcber, 5%25 off";x=1, %"bad %c3"' };
    return Response.json(answer, { headers });
  };
  const relay = createRelay({
    baseUrl: 'https://forecue.example',
    appKey: 'fc_key',
    userOf: () => 'u',
    connectionOf: (user) => `connection of ${user}`,
    fetch: server,
  });
  const throughRelay: typeof fetch = (url, init) => relay(new Request(url, init));
  for (const way of [server, throughRelay]) {
    const client = createAppClient({ baseUrl: 'https://app.example', fetch: way });
    const prediction = await client.predict(input(), { alternatives: 2 });
    assert.ok(prediction.status === 'suggested');
    assert.deepEqual(prediction.alternatives, ['there', 'über, 5% off']);
  }
  assert.deepEqual(asked, ['wait, alternatives=2', 'wait, alternatives=2']);
  assert.equal(bodies[1]?.['connection_id'], 'connection of u');
});
