import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { hang, ok, status } from '../support/fake-provider.ts';
import { startLostAnswers } from '../support/lost-answers.ts';
import { lockRow } from '../support/row-lock.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const CANCEL = { 'x-on-disconnect': 'cancel' };

describe('connected caller that is answered 503', () => {
  const system = useSystem({ env: { PREDICTION_TIMEOUT_MS: '4000' } });
  beforeEach(() => system.provider.reset());

  it('a request that got 503 at its deadline runs again when its caller repeats it', async () => {
    const app = await system.app();
    const body = predictionBody();
    system.provider.next(hang());
    const waiting = app.predict(body, { headers: CANCEL });
    await system.provider.called(1);
    const lock = await lockRow(system, 'usage', 'app_id = $1', [app.id]);
    const refused = await waiting;
    assert.deepEqual([refused.status, refused.code], [503, 'service_unavailable']);
    await lock.release();
    await until(async () => (await rowOf(system, body)).ended_at !== null);
    const again = await app.predict(body, { headers: CANCEL });
    assert.equal(again.status, 200, again.text);
    assert.equal((await rowOf(system, body)).attempt, 2);
  });

  it('repeating a request that got 503 because of lost database answers returns its prediction', async () => {
    await using link = await startLostAnswers(system.database.serviceUrl);
    const web = await system.startWeb({ DATABASE_URL: link.url });
    const app = await system.app();
    // Fails first: a second attempt keeps the first one's id, which is not the id that its ingress proposes.
    const body = predictionBody();
    const answer = Promise.withResolvers<void>();
    system.provider.next(status(500), async (response, call) => {
      await answer.promise;
      await ok()(response, call);
    });
    assert.equal((await app.predict(body, { at: web })).status, 502);
    link.lose('admit_v1', 2);
    const refused = await app.predict(body, { at: web, headers: CANCEL });
    assert.deepEqual([refused.status, refused.code, link.left], [503, 'service_unavailable', 0]);
    await until(async () => (await rowOf(system, body)).detached_at);
    const again = app.predict(body, { at: web, headers: CANCEL });
    await until(async () => (await rowOf(system, body)).waiters.length === 1);
    answer.resolve();
    const { status: statusAgain, headers, text } = await again;
    assert.deepEqual([statusAgain, headers.get('idempotency-replayed')], [200, 'true'], text);
    assert.equal((await rowOf(system, body)).attempt, 2);
  });
});
