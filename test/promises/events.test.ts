import assert from 'node:assert/strict';
import type { ActivityResponse } from '../../shared/schemas/activity.ts';
import { signUp } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { hang, ok, status } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { alterRow } from '../support/time-travel.ts';

describe('prediction events', () => {
  const system = useSystem();
  let app: AppClient;
  before(async () => {
    app = await system.app();
  });
  beforeEach(() => system.provider.reset());

  let events = 0;
  const makeEvent = ({ request_id }: { request_id: string }, part: object = {}) => {
    events += 1;
    return { event_id: `e-${events}`, request_id, user_id: 'u-1', kind: 'presented', ...part };
  };
  const send = async (event: object, as: AppClient = app) => {
    const reply = await as.request('POST', '/v1/prediction-events', event);
    return reply.status === 200 ? reply.body : [reply.status, reply.code];
  };
  const RECORDED = { status: 'recorded' };

  it('prediction events of every kind are accepted, even out of order, and a repeated event is stored once', async () => {
    const body = predictionBody();
    await app.predict(body);
    for (const kind of ['submitted', 'accepted', 'presented', 'edited', 'dismissed']) {
      const event = makeEvent(body, { kind });
      assert.deepEqual(await send(event), RECORDED);
      assert.deepEqual(await send(event), RECORDED);
    }
    const rows = await system.sql('select kind from prediction_events where request_id = $1', [
      body.request_id,
    ]);
    assert.equal(rows.length, 5);
  });

  it('a person who dismisses suggestions of a model sees fewer, also without a connection', async () => {
    const user_id = `u-${crypto.randomUUID()}`;
    const suggest = () => {
      system.provider.next(ok({ continuation: ' with care', likelihood: 'even' }));
      // In another session, a dismissed completion may be suggested again.
      return app.predict(predictionBody({ user_id, session_id: crypto.randomUUID() }));
    };
    const { body } = await suggest();
    assert.equal(body.status, 'suggested');
    for (let n = 0; n < 20; n += 1)
      assert.deepEqual(await send(makeEvent(body, { user_id, kind: 'dismissed' })), RECORDED);
    assert.equal((await suggest()).body.status, 'abstained');
  });

  it('the share of an accepted completion that was sent stands in the header of `submitted`, and the person sees the mean', async () => {
    const ann = await signUp(system);
    const connecting = await connectingApp(system);
    const { connection_id } = await connect(system, connecting, ann);
    for (const retained of ['1', '0.5', 'all']) {
      const body = predictionBody({ connection_id, user_id: 'u-1' });
      await connecting.predict(body);
      assert.deepEqual(await send(makeEvent(body, { kind: 'accepted' }), connecting), RECORDED);
      const headers = { 'Forecue-Retained': retained };
      const submitted = makeEvent(body, { kind: 'submitted' });
      assert.equal((await connecting.post('/v1/prediction-events', submitted, { headers })).status, 200);
    }
    const { body } = await ann.get<ActivityResponse>('/api/activity/');
    assert.deepEqual(body.suggestions, { accepted: 3, dismissed: 0, retained: 0.75 });
  });

  it('if an app sends two different prediction events with one event_id at once, one is recorded, the other is 409', async () => {
    const body = predictionBody();
    await app.predict(body);
    const event = makeEvent(body);
    const twins = await Promise.all(
      Array.from({ length: 20 }, (_, n) => send(n % 2 === 0 ? event : { ...event, kind: 'accepted' })),
    );
    const recorded = twins.filter((one) => !Array.isArray(one));
    assert.equal(recorded.length, 10);
    for (const one of twins) if (Array.isArray(one)) assert.deepEqual(one, [409, 'event_conflict']);
    const other = await system.app();
    const foreign = predictionBody();
    await other.predict(foreign);
    assert.deepEqual(await send({ ...event, request_id: foreign.request_id }, other), RECORDED);
  });

  it('prediction events are 404 for an unknown request or another app, and 403 for another user', async () => {
    const body = predictionBody();
    await app.predict(body);
    assert.deepEqual(await send(makeEvent({ request_id: 'unknown' })), [404, 'not_found']);
    assert.deepEqual(await send(makeEvent(body), await system.app()), [404, 'not_found']);
    assert.deepEqual(await send(makeEvent(body, { user_id: 'u-2' })), [403, 'access_denied']);
  });

  it('prediction events are 409 while the prediction runs, and accepted after a cancel or a failure', async () => {
    system.provider.next(hang());
    const body = predictionBody();
    const waiting = app.predict(body);
    await system.provider.called(1);
    const reply = await app.request('POST', '/v1/prediction-events', makeEvent(body));
    assert.deepEqual([reply.status, reply.code], [409, 'request_in_flight']);
    assert.equal(reply.headers.get('retry-after'), '1');
    await app.cancel(body.request_id, body.user_id);
    await waiting;
    assert.deepEqual(await send(makeEvent(body)), RECORDED);

    system.provider.next(status(500));
    const failed = predictionBody();
    await app.predict(failed);
    assert.deepEqual(await send(makeEvent(failed)), RECORDED);
  });

  it('prediction events are accepted after the recovery window; new ones are 404 once the prediction is deleted', async () => {
    const body = predictionBody();
    await app.predict(body);
    await alterRow(system, app, body, `expires_at = now() - interval '1 hour'`);
    const event = makeEvent(body);
    assert.deepEqual(await send(event), RECORDED);
    await system.sql(`delete from history where facts::json ->> 'requestId' = $1`, [body.request_id]);
    assert.deepEqual(await send(event), RECORDED);
    assert.deepEqual(await send(makeEvent(body)), [404, 'not_found']);
  });
});
