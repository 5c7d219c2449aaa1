import assert from 'node:assert/strict';
import { STOP_LIMITS } from '../../shared/stop-limits.ts';
import { predictionBody } from '../support/client.ts';
import { hang, ok } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { useProcesses } from '../support/system.ts';
import { assertUnits } from '../support/units.ts';
import { until } from '../support/until.ts';

const STOPPED_WITHIN_MS = STOP_LIMITS.process;

describe('unfinished work', function () {
  this.timeout(STOPPED_WITHIN_MS + 15_000);
  const env = { PREDICTION_TIMEOUT_MS: '60000', PROVIDER_TIMEOUT_MS: '60000' };
  const system = useProcesses({ webs: 2, env });

  it('a caller whose ingress and worker shut down gets 503; its work, like that of a caller who left before, runs elsewhere as the same attempt, and a retry gets the result #caller-leaves #shutdown', async () => {
    const app = await system.app();
    const [other, web] = system.webs;
    const [worker] = system.workers;
    assert.ok(web && other && worker);
    // One caller waits at the ingress that stops, one at the ingress that stays, and one has left. All first provider
    // calls hang.
    const [cutOff, patient, left] = [predictionBody(), predictionBody(), predictionBody()];
    const answer = Promise.withResolvers<void>();
    system.provider.next(hang(), hang(), hang());
    system.provider.respond(async (response, call) => {
      if (call.record.draft === cutOff.draft.text) await answer.promise;
      await ok()(response, call);
    });
    const waiting = app.predict(cutOff, { at: web, headers: { 'x-on-disconnect': 'cancel' } });
    const waitingOn = app.predict(patient, { at: other });
    const leaving = new AbortController();
    app.predict(left, { at: other, signal: leaving.signal }).catch(() => {});
    await system.provider.called(3);
    leaving.abort();
    await until(async () => (await rowOf(system, left)).detached_at);
    const since = performance.now();
    for (const process of [web, worker]) process.kill('SIGTERM');
    await system.startWorker();

    const answered = await waitingOn;
    assert.equal(answered.status, 200, answered.text);
    assert.equal((await rowOf(system, patient)).attempt, 1);
    const refused = await waiting;
    assert.deepEqual([refused.status, refused.code], [503, 'service_unavailable']);
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    await Promise.all([web.exited, worker.exited]);
    const tookMs = performance.now() - since;
    assert.ok(tookMs < STOPPED_WITHIN_MS, `stopped after ${tookMs} ms`);
    assert.deepEqual([web.child.exitCode, worker.child.exitCode], [0, 0]);

    await until(async () => (await rowOf(system, left)).state === 'suggested');
    assert.equal((await rowOf(system, left)).attempt, 1);
    const again = app.predict(cutOff, { at: other, headers: { prefer: 'wait' } });
    answer.resolve();
    const { status, headers } = await again;
    assert.deepEqual([status, headers.get('idempotency-replayed')], [200, 'true']);
    assert.equal((await rowOf(system, cutOff)).attempt, 1);
    assert.equal(system.provider.calls.length, 6);
    await assertUnits(app, 3);
  });
});
