import assert from 'node:assert/strict';
import { adminResult, runAdmin } from '../support/admin.ts';
import { predictionBody } from '../support/client.ts';
import { hang, status } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

interface ShownApp {
  used: { prediction_units: number; reserved_units: number };
  using: { queued: number; running: number; oldest_queued_s: number | null };
  refused: { code: string; calls: number; last_at: string; means: string }[];
}

describe('admin app show', () => {
  const system = useSystem({ env: { SANDBOX_UNITS: '2', PREDICTION_TIMEOUT_MS: '60000' } });
  beforeEach(() => system.provider.reset());

  const show = (id: string): Promise<ShownApp> => adminResult(['app', 'show', id], system.env);

  it('`admin app show` reports the units that the app has used and reserved, and its queued and running work', async () => {
    const app = await system.app();
    assert.equal((await app.predict(predictionBody())).status, 200);
    system.provider.respond(hang());
    const gone = new AbortController();
    const call = app.predict(predictionBody(), { signal: gone.signal }).catch(() => undefined);
    await system.provider.called(2);
    const { used, using } = await show(app.id);
    assert.deepEqual([used.prediction_units, used.reserved_units], [1, 1]);
    assert.deepEqual(using, { queued: 0, running: 1, oldest_queued_s: null });
    gone.abort();
    await call;
  });

  it("`admin app show` counts recently refused calls by error code, with the latest time and the code's meaning", async () => {
    const [app, other] = [await system.app(), await system.app()];
    for (let n = 0; n < 3; n += 1) await app.predict({});
    system.provider.respond(status(500));
    await app.predict(predictionBody());
    system.provider.reset();
    for (let n = 0; n < 3; n += 1) await app.predict(predictionBody());
    const { refused } = await until(async () => {
      const shown = await show(app.id);
      return shown.refused.length === 3 && shown;
    });
    assert.deepEqual(refused.map(({ code, calls }) => [code, calls]).sort(), [
      ['provider_failed', 1],
      ['sandbox_exhausted', 1],
      ['validation_error', 3],
    ]);
    assert.match(refused.find(({ code }) => code === 'sandbox_exhausted')?.means ?? '', /used up/);
    assert.ok(refused.every(({ last_at }) => Math.abs(Date.now() - Date.parse(last_at)) < 60_000));
    assert.deepEqual((await show(other.id)).refused, []);
    const { stdout } = await runAdmin(['app', 'show', app.id], system.env);
    assert.match(stdout, /\nRefused in the last 24 hours:\ncode +calls +last_at +means\n/);
  });

  it('`admin app show` does not count a call as refused if the caller disconnects while the prediction runs', async () => {
    const app = await system.app();
    system.provider.respond(hang());
    const gone = new AbortController();
    const body = predictionBody();
    const call = app.predict(body, { signal: gone.signal }).catch(() => undefined);
    await system.provider.called(1);
    gone.abort();
    await call;
    await until(async () => (await rowOf(system, body)).detached_at);
    await app.predict({});
    const { refused } = await until(async () => {
      const shown = await show(app.id);
      return shown.refused.length > 0 && shown;
    });
    assert.deepEqual(
      refused.map(({ code }) => code),
      ['validation_error'],
    );
  });

  it('`admin app list` shows how many recent calls of each app were refused', async () => {
    const [app, other] = [await system.app(), await system.app()];
    for (let n = 0; n < 5; n += 1) await app.predict({});
    await until(async () => {
      const apps: { app_id: string; refused_lately: number }[] = await adminResult(
        ['app', 'list'],
        system.env,
      );
      const by = new Map(apps.map(({ app_id, refused_lately }) => [app_id, refused_lately]));
      return by.get(app.id) === 5 && by.get(other.id) === 0;
    });
  });
});
