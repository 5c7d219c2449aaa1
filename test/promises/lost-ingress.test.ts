import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { ok } from '../support/fake-provider.ts';
import type { HostedPart } from '../support/hosted.ts';
import { rowOf } from '../support/rows.ts';
import { type System, useSystem } from '../support/system.ts';
import { assertUnits } from '../support/units.ts';
import { until } from '../support/until.ts';

/** One lease, and some time for a call. */
const NOTICED_WITHIN_MS = 3000 + 1000;

describe('lost ingress', () => {
  const system = useSystem({ apart: true, env: { LEASE_MS: '3000' } });
  beforeEach(() => system.provider.reset());

  /** Sends a call and kills its ingress. `id` is that of the call's row; `answer` lets the provider answer. */
  const orphanCall = async () => {
    const app = await system.app();
    const answer = Promise.withResolvers<void>();
    system.provider.respond(async (response, call) => {
      await answer.promise;
      await ok()(response, call);
    });
    const victim = await system.startWeb();
    const body = predictionBody();
    const broken = assert.rejects(app.predict(body, { at: victim }));
    await system.provider.called(1);
    const { id } = await rowOf(system, body);
    await victim.kill();
    const diedAt = performance.now();
    await broken;
    return { app, body, id, diedAt, answer: answer.resolve };
  };

  it("repeating a request of a dead ingress is 409 until the ingress's lease expires, then gets the same prediction #ingress-dies", async () => {
    const { app, body, id, diedAt, answer } = await orphanCall();
    let refusals = 0;
    let askedAt = performance.now();
    let reply = app.predict(body);
    const attached = until(() => isAwaited(system, id), 6000).then(() => answer());
    for (; (await reply).status === 409; reply = app.predict(body)) {
      refusals += 1;
      assert.equal((await reply).code, 'request_in_flight');
      assert.equal((await reply).headers.get('retry-after'), '1');
      askedAt = performance.now();
    }
    await attached;
    assert.ok(refusals > 0, 'the repeat was never refused');
    assert.ok(askedAt - diedAt < NOTICED_WITHIN_MS, `still refused ${askedAt - diedAt} ms after the death`);
    assert.equal((await reply).status, 200, (await reply).text);
    assert.equal((await reply).body.prediction_id, id);
    assert.equal((await reply).headers.get('idempotency-replayed'), 'true');
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 1);
  });

  it('repeating a request of a dead ingress with `Prefer: wait` attaches to the running work at once #ingress-dies', async () => {
    const { app, body, id, answer } = await orphanCall();
    const waiting = app.predict(body, { headers: { prefer: 'wait' } });
    await until(() => isAwaited(system, id), 1000);
    answer();
    const reply = await waiting;
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.body.prediction_id, id);
    assert.equal(system.provider.calls.length, 1);
  });
});

/** Reports whether the remaining ingress has a caller waiting for the prediction. */
async function isAwaited({ database }: System<HostedPart>, id: string): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    `select from work p
      where p.id = $1 and p.waiters && array(
        select w.id from processes w where w.kind = 'web' and w.alive_until > now()
         order by w.id limit 1)`,
    [id],
  );
  return rowCount === 1;
}
