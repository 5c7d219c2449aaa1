import assert from 'node:assert/strict';
import { announce } from '../../shared/db/stores/webhooks/announce.ts';
import type { ValidationErrorBody } from '../../shared/schemas/errors.ts';
import type { WebhookResponse } from '../../shared/schemas/webhooks.ts';
import { clientWithKey, eraseAccount, signUp, type UserClient } from '../support/account.ts';
import { AppClient, predictionBody } from '../support/client.ts';
import { connect, connectingApp, revoke } from '../support/connection.ts';
import { status as answerStatus, ok } from '../support/fake-provider.ts';
import { pluck } from '../support/pluck.ts';
import { predictSuccessfully, proposeReplies } from '../support/replies.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';
import {
  deliveriesOf,
  deliveryThat,
  finishJob,
  idOf,
  makeWebhook,
  type NewWebhook,
  verified,
} from '../support/webhooks.ts';

const JOBS = ['job.finished'];

describe('webhooks', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { ALLOW_PRIVATE_ADDRESSES: 'true', LEASE_MS: '2000', SANDBOX_UNITS: '5' },
  });
  let person: UserClient;
  beforeEach(async () => {
    system.provider.reset();
    person = await signUp(system);
  });
  /** Makes the next attempts due, as if the time until then had passed. */
  const passTime = async ({ id }: { id: string }) => {
    await system.sql('update webhooks set rests_until = null where id = $1', [id]);
    await system.sql(
      'update deliveries set next_attempt_at = now() where webhook_id = $1 and next_attempt_at is not null',
      [id],
    );
  };
  const change = (webhook: { id: string }, body: object) =>
    person.request<WebhookResponse>('PATCH', `/api/webhooks/${webhook.id}/`, body);
  const requestsOf = (receiver: ScriptedServer, count: number) =>
    until(() => receiver.requests.length >= count && receiver.requests.slice(0, count));
  async function first(receiver: ScriptedServer) {
    const [request] = await requestsOf(receiver, 1);
    assert.ok(request);
    return request;
  }

  it('an escalated prediction is posted with its id, signed, and without a word of the person', async () => {
    await using receiver = await startScriptedServer({ status: 204, body: '' });
    const webhook = await makeWebhook(person, { url: receiver.url, events: ['prediction.escalated'] });
    system.provider.next(proposeReplies([{ response: 'Blue' }]));
    const { id, status } = await predictSuccessfully(person, { agent_input: 'Which secret colour?' });
    assert.equal(status, 'escalated');
    const request = await first(receiver);
    const message = verified(request, webhook.secret);
    assert.deepEqual([message.type, message.data], ['prediction.escalated', { prediction_id: id }]);
    assert.ok(Math.abs(Date.parse(message.timestamp) - Date.now()) < 600_000);
    assert.doesNotMatch(request.body, /colour|Blue/);
    assert.throws(() => verified({ ...request, body: `${request.body} ` }, webhook.secret));
    const sent = await deliveryThat(person, webhook.id, ({ state }) => state === 'delivered');
    assert.deepEqual([sent.id, sent.attempts, sent.reason], [idOf(request), 1, null]);
  });

  it('a prediction that is decided for the person, or only tried out, is not reported', async () => {
    await using receiver = await startScriptedServer({});
    const webhook = await makeWebhook(person, {
      url: receiver.url,
      events: ['prediction.escalated', 'job.finished'],
    });
    for (const more of [{ threshold: 0 }, { trial: true }]) {
      system.provider.next(proposeReplies([{ response: 'Blue' }]));
      await predictSuccessfully(person, more);
    }
    await finishJob(person);
    await first(receiver);
    assert.deepEqual(pluck(await deliveriesOf(person, webhook.id), 'event'), JOBS);
  });

  it('a job that has ended is reported with its kind, its state and its error', async () => {
    await using receiver = await startScriptedServer({});
    const webhook = await makeWebhook(person, { url: receiver.url, events: JOBS });
    await finishJob(person);
    const { type, data } = verified(await first(receiver), webhook.secret);
    assert.equal(type, 'job.finished');
    assert.deepEqual({ ...data, job_id: '' }, { job_id: '', kind: 'sync', state: 'succeeded', code: null });
    assert.equal((await person.get(`/api/jobs/${data['job_id']}/`)).status, 200);
  });

  it('a revoked connection is reported once to the account and once to its app, also when the account is erased', async () => {
    await using receiver = await startScriptedServer({});
    const maker = await signUp(system);
    const app = await connectingApp(system);
    await system.sql('update apps set owner_id = $1 where id = $2', [maker.id, app.id]);
    const events = ['connection.revoked'];
    await makeWebhook(person, { url: `${receiver.url}/own`, events });
    await makeWebhook(maker, { url: `${receiver.url}/app`, events, app_id: app.id });
    const { connection_id } = await connect(system, app, person);
    for (const _ of [1, 2]) assert.equal((await revoke(app, connection_id)).status, 200);
    const requests = await requestsOf(receiver, 2);
    assert.deepEqual(pluck(requests, 'url').sort(), ['/app', '/own']);
    for (const { body } of requests)
      assert.deepEqual(JSON.parse(body).data, { connection_id, app_id: app.id });
    const other = await connect(system, app, person, 'u-2');
    await eraseAccount(system, person);
    const [, , last] = await requestsOf(receiver, 3);
    assert.equal(last?.url, '/app');
    assert.equal(JSON.parse(last.body).data.connection_id, other.connection_id);
  });

  it('an app hears once a month that 80 % of its cap are used, and once that no further unit fits', async () => {
    await using receiver = await startScriptedServer({});
    const { body } = await person.post<{ app_id: string; key: string }>('/api/apps/', { name: 'Own' });
    const { app_id, key } = body;
    const webhook = await makeWebhook(person, { url: receiver.url, events: ['cap.reached'], app_id });
    const app = new AppClient(app_id, key, person.url);
    const percents = async () =>
      (await deliveriesOf(person, webhook.id)).map(({ data }) => [data['plan'], data['percent']]);
    // A prediction that fails gives its unit back, and the next reaches the share again.
    const predict = async (statuses: number[]) => {
      for (const status of statuses) {
        system.provider.respond(status === 502 ? answerStatus(500) : ok());
        assert.equal((await app.post('/v1/predictions', predictionBody())).status, status);
      }
    };
    await predict([200, 200, 200]);
    assert.deepEqual(await percents(), []);
    await predict([502, 502, 200]);
    assert.deepEqual(await percents(), [['sandbox', 80]]);
    await predict([200, 402]);
    assert.deepEqual(await percents(), [
      ['sandbox', 100],
      ['sandbox', 80],
    ]);
    await system.sql(`update apps set plan = 'paid', cap_cents = 1 where id = $1`, [app_id]);
    await predict([200, 200, 200, 200]);
    assert.deepEqual((await percents())[0], ['paid', 80]);
    await predict([200, 402]);
    assert.deepEqual((await percents())[0], ['paid', 100]);
    const [, last] = await deliveriesOf(person, webhook.id);
    const month = new Date().toISOString().slice(0, 7);
    assert.deepEqual(last?.data, { app_id, plan: 'paid', month, percent: 80 });
    await requestsOf(receiver, 4);
  });

  it('a delivery that fails is tried again by its same id, with a new timestamp, until it is answered 2xx', async () => {
    await using elsewhere = await startScriptedServer({});
    await using receiver = await startScriptedServer(
      { status: 500 },
      undefined,
      { status: 302, headers: { location: elsewhere.url } },
      { status: 200, body: 'x'.repeat(200_000) },
    );
    const webhook = await makeWebhook(person, { url: receiver.url, events: JOBS });
    await finishJob(person);
    const reasons = [];
    for (const attempts of [1, 2, 3]) {
      const failed = await deliveryThat(person, webhook.id, (one) => one.attempts === attempts);
      assert.ok(Date.parse(failed.next_attempt_at ?? '') > Date.parse(failed.last_attempt_at ?? ''));
      reasons.push(failed.reason);
      await passTime(webhook);
    }
    assert.deepEqual(reasons, ['answered 500', 'no connection: ECONNRESET', 'answered 302']);
    const sent = await deliveryThat(person, webhook.id, ({ state }) => state === 'delivered');
    assert.deepEqual([sent.attempts, sent.reason, sent.next_attempt_at], [4, null, null]);
    assert.deepEqual([...new Set(receiver.requests.map(idOf))], [sent.id]);
    for (const request of receiver.requests) verified(request, webhook.secret);
    assert.equal(new Set(pluck(receiver.requests, 'body')).size, 1);
    assert.deepEqual(elsewhere.requests, []);
  });

  it('a delivery is given up after a day, and can be sent again, alone or with all that failed', async () => {
    await using receiver = await startScriptedServer({ status: 500 }, { status: 500 }, {});
    const webhook = await makeWebhook(person, { url: receiver.url, events: JOBS });
    await finishJob(person);
    await deliveryThat(person, webhook.id, ({ attempts }) => attempts === 1);
    await system.sql(`update deliveries set tried_from = now() - interval '1 day' where webhook_id = $1`, [
      webhook.id,
    ]);
    await passTime(webhook);
    const failed = await deliveryThat(person, webhook.id, ({ state }) => state === 'failed');
    assert.deepEqual([failed.attempts, failed.next_attempt_at], [2, null]);
    const replay = (body: object) =>
      person.post<{ replayed: number }>(`/api/webhooks/${webhook.id}/replay/`, body);
    const foreign = await makeWebhook(person, { url: receiver.url, events: JOBS });
    const other = await person.post<{ replayed: number }>(`/api/webhooks/${foreign.id}/replay/`, {
      delivery_ids: [failed.id],
    });
    assert.equal(other.body.replayed, 0);
    await system.sql('update webhooks set rests_until = null');
    assert.equal((await replay({})).body.replayed, 1);
    await deliveryThat(person, webhook.id, ({ state }) => state === 'delivered');
    assert.equal((await replay({})).body.replayed, 0);
    assert.equal((await replay({ delivery_ids: [failed.id] })).body.replayed, 1);
    await requestsOf(receiver, 4);
    assert.deepEqual([...new Set(receiver.requests.map(idOf))], [failed.id]);
  });

  it('a new secret signs at once, and the one before it as well until its grace ends', async () => {
    await using receiver = await startScriptedServer({});
    const webhook = await makeWebhook(person, { url: receiver.url, events: JOBS });
    const rotate = async (grace_s: number) => {
      const { status, body } = await person.post<NewWebhook>(`/api/webhooks/${webhook.id}/secret/`, {
        grace_s,
      });
      assert.equal(status, 201);
      return body.secret;
    };
    const next = await rotate(3600);
    await finishJob(person);
    for (const secret of [webhook.secret, next]) verified(await first(receiver), secret);
    const last = await rotate(0);
    await finishJob(person);
    const [, second] = await requestsOf(receiver, 2);
    assert.ok(second);
    verified(second, last);
    for (const secret of [webhook.secret, next]) assert.throws(() => verified(second, secret));
    const { body, text } = await person.get<WebhookResponse>(`/api/webhooks/${webhook.id}/`);
    assert.deepEqual([body.old_secret_until, text.includes('whsec_')], [null, false]);
  });

  it('410 disables a webhook, as days of failures do, gives up what is pending, and its owner begins anew', async () => {
    await using receiver = await startScriptedServer({ status: 410 }, { status: 500 }, { status: 500 }, {});
    const webhook = await makeWebhook(person, { url: receiver.url, events: JOBS });
    const read = async () => (await person.get<WebhookResponse>(`/api/webhooks/${webhook.id}/`)).body;
    await finishJob(person);
    await until(async () => (await read()).disabled === 'gone');
    assert.deepEqual(pluck(await deliveriesOf(person, webhook.id, '?state=failed'), 'reason'), [
      'the webhook is disabled',
    ]);
    await finishJob(person);
    assert.equal((await deliveriesOf(person, webhook.id)).length, 1);
    assert.equal((await change(webhook, { active: true })).body.disabled, null);
    await finishJob(person);
    await until(async () => (await read()).failing_since);
    await system.sql(`update webhooks set failing_since = now() - interval '6 days' where id = $1`, [
      webhook.id,
    ]);
    await passTime(webhook);
    await until(async () => (await read()).disabled === 'failing');
    await change(webhook, { active: true });
    await finishJob(person);
    await deliveryThat(person, webhook.id, ({ state }) => state === 'delivered');
    assert.equal((await change(webhook, { active: false })).body.disabled, 'paused');
    const before = receiver.requests.length;
    await finishJob(person);
    assert.equal((await deliveriesOf(person, webhook.id)).length, 3);
    assert.equal(receiver.requests.length, before);
  });

  it('nothing is sent to a webhook of a disabled account, and what is pending is given up', async () => {
    await using receiver = await startScriptedServer({ status: 500 });
    const webhook = await makeWebhook(person, { url: receiver.url, events: JOBS });
    await finishJob(person);
    await first(receiver);
    await system.sql('update accounts set active = false where id = $1', [person.id]);
    await until(async () => {
      await passTime(webhook);
      const failed = `select from deliveries where webhook_id = $1 and state = 'failed'`;
      return (await system.sql(failed, [webhook.id])).length === 1;
    });
    assert.equal(receiver.requests.length, 1);
  });

  it('what a killed worker has left is sent by another', async () => {
    await using receiver = await startScriptedServer({});
    const webhook = await makeWebhook(person, { url: receiver.url, events: JOBS });
    // A process that no longer lives has claimed it.
    await system.sql('update webhooks set sender = gen_random_uuid() where id = $1', [webhook.id]);
    await finishJob(person);
    await first(receiver);
    await until(
      async () =>
        (await system.sql('select sender from webhooks where id = $1', [webhook.id]))[0]?.['sender'] === null,
    );
  });

  it('an event that is rolled back is not reported, and one with a key is reported once', async () => {
    await using receiver = await startScriptedServer({});
    const webhook = await makeWebhook(person, { url: receiver.url, events: JOBS });
    const event = { account: person.id, event: 'job.finished', data: {} } as const;
    const undone = system.em().transactional(async (tx) => {
      await announce(tx, [event]);
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
    assert.deepEqual(await deliveriesOf(person, webhook.id), []);
    const keyed = { ...event, key: 'once' };
    for (const _ of [1, 2]) await announce(system.em(), [keyed]);
    assert.equal((await deliveriesOf(person, webhook.id)).length, 1);
  });

  it('a webhook is its owner’s alone, of ten at most, and a key with scopes only reads', async () => {
    const own = await makeWebhook(person, { url: 'https://one.example/', events: JOBS });
    const path = `/api/webhooks/${own.id}/`;
    const stranger = await signUp(system);
    for (const [method, end, body] of [
      ['GET', ''],
      ['PATCH', '', { active: false }],
      ['DELETE', ''],
      ['POST', 'secret/', { grace_s: 0 }],
      ['GET', 'deliveries/'],
      ['POST', 'replay/', {}],
    ] as const)
      assert.equal((await stranger.request(method, path + end, body)).status, 404, `${method} ${end}`);
    const app = await person.post<{ app_id: string }>('/api/apps/', { name: 'Own' });
    const ofApp = { url: 'https://one.example/', events: ['cap.reached'], app_id: app.body.app_id };
    assert.equal((await stranger.post('/api/webhooks/', ofApp)).status, 404);
    await makeWebhook(person, ofApp);
    const listed = await person.get<{ results: WebhookResponse[] }>(
      `/api/webhooks/?app_id=${app.body.app_id}`,
    );
    assert.deepEqual(pluck(listed.body.results, 'app_id'), [app.body.app_id]);
    assert.equal((await person.get<{ results: object[] }>('/api/webhooks/')).body.results.length, 2);
    const agent = await clientWithKey(person, ['read', 'write', 'forget']);
    assert.equal((await agent.get(path)).status, 200);
    assert.equal((await agent.request('DELETE', path)).status, 403);
    assert.equal(
      (await agent.post('/api/webhooks/', { url: 'https://one.example/', events: JOBS })).status,
      403,
    );
    for (let count = 1; count < 10; count += 1)
      await makeWebhook(person, { url: 'https://one.example/', events: JOBS });
    const more = await person.post('/api/webhooks/', { url: 'https://one.example/', events: JOBS });
    assert.equal(more.status, 403, more.text);
    assert.match(more.text, /10 of 10 webhooks/);
    assert.equal((await person.request('DELETE', path)).status, 204);
    assert.equal((await person.get(path)).status, 404);
    assert.equal((await person.request('DELETE', `/api/apps/${app.body.app_id}/`)).status, 204);
    assert.deepEqual(await system.sql('select from webhooks where app_id = $1', [app.body.app_id]), []);
  });

  it('an event that its party does not have, and an address that cannot be called, are refused', async () => {
    const request = (url: string, events: string[]) =>
      person.post<ValidationErrorBody>('/api/webhooks/', { url, events });
    const post = async (url: string, events: string[]) => (await request(url, events)).status;
    const { body } = await request('https://one.example/', [...JOBS, ...JOBS]);
    assert.deepEqual(pluck(body.detail, 'msg'), ['List should not repeat an item']);
    assert.equal(await post('https://one.example/', ['cap.reached']), 422);
    assert.equal(await post('https://one.example/', ['nothing']), 422);
    assert.equal(await post('https://one.example/', []), 422);
    for (const url of [
      'x',
      'ftp://one.example/',
      'https://a:b@one.example/',
      'https://one.example/#x',
      'javascript:1',
    ])
      assert.equal(await post(url, JOBS), 422, url);
  });
});

describe('webhooks, with private addresses refused', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });

  it('an address in a private network is refused at once, and by the address that its name has when it is called', async () => {
    await using receiver = await startScriptedServer({});
    const { port } = new URL(receiver.url);
    const person = await signUp(system);
    const literals = [
      `127.0.0.1:${port}`,
      '2130706433',
      '10.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
    ];
    for (const url of [receiver.url, ...literals.map((host) => `https://${host}/`)])
      assert.equal((await person.post('/api/webhooks/', { url, events: JOBS })).status, 422, url);
    const webhook = await makeWebhook(person, { url: `https://localhost:${port}/`, events: JOBS });
    await finishJob(person);
    const named = await deliveryThat(person, webhook.id, ({ attempts }) => attempts > 0);
    assert.equal(named.reason, 'not called: the address is of a private network');
    // As rows of an installation have them that has allowed such addresses before.
    for (const url of [receiver.url, `https://[::ffff:7f00:1]:${port}/`]) {
      await system.sql('update webhooks set url = $1, rests_until = null where id = $2', [url, webhook.id]);
      await system.sql('update deliveries set attempts = 0, next_attempt_at = now() where webhook_id = $1', [
        webhook.id,
      ]);
      const { reason } = await deliveryThat(person, webhook.id, ({ attempts }) => attempts > 0);
      assert.match(reason ?? '', /^not called: /);
    }
    assert.deepEqual(receiver.requests, []);
  });
});
