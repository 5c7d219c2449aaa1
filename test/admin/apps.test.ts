import assert from 'node:assert/strict';
import { createAccount } from '../../shared/db/stores/accounts.ts';
import { createApp, findAppsByKey, rotateKey } from '../../shared/db/stores/apps.ts';
import { addToLedger } from '../../shared/db/stores/provider-calls.ts';
import { newId } from '../../shared/ids.ts';
import { hashKey, looksLikeAppKey } from '../../shared/security/keys.ts';
import { adminResult, runAdmin } from '../support/admin.ts';
import { bookedCall } from '../support/booked-call.ts';
import { predictionBody } from '../support/client.ts';
import { hang, status } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const NOBODY = '00000000-0000-7000-8000-000000000000';

interface ShownApp {
  used: { prediction_units: number; reserved_units: number };
  using: { queued: number; running: number; oldest_queued_s: number | null };
  refused: { code: string; calls: number; last_at: string; means: string }[];
}

describe('apps and keys', () => {
  const system = useSystem({ env: { SANDBOX_UNITS: '2', PREDICTION_TIMEOUT_MS: '60000' } });
  beforeEach(() => system.provider.reset());

  const admin = (...args: string[]) => runAdmin(args, { DATABASE_URL: system.database.url });
  const result = (...args: string[]) => adminResult(args, { DATABASE_URL: system.database.url });
  const works = async (key: string) => {
    const [app] = await findAppsByKey(system.database.pool, [hashKey(key)]);
    return app !== undefined;
  };
  const makeApp = () =>
    createApp(system.em(), { name: 'test', redirectUris: [], plan: 'sandbox', capCents: null });

  it('`app create` issues a working key, which `app show` and `app list` do not show', async () => {
    const uris = ['https://app.example/callback?x=1', 'http://127.0.0.1:3000/'];
    const { app_id, key, ...rest } = await result(
      ...['app', 'create', '--name', 'Écran 1', '--cap-cents', '2500', '--plan', 'paid'],
      ...uris.flatMap((uri) => ['--redirect-uri', uri]),
    );
    assert.deepEqual(rest, {});
    assert.ok(looksLikeAppKey(key));
    assert.ok(await works(key));

    const [shown, list] = await Promise.all([result('app', 'show', app_id), result('app', 'list')]);
    const { created_at, keys, used, using, refused, days, people, ...app } = shown;
    assert.deepEqual(app, {
      app_id,
      name: 'Écran 1',
      plan: 'paid',
      monthly_cap_cents: 2500,
      active: true,
      redirect_uris: uris,
      min_confidence: 0.3,
      supersede: true,
      on_disconnect: 'continue',
      disabled: [],
      native: false,
      switched_off: [],
    });
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(keys, [{ prefix: key.slice(0, 9), created_at, expires_at: null }]);
    assert.deepEqual([used.prediction_units, using.running, refused, days, people], [0, 0, [], [], 0]);
    assert.deepEqual(list, [{ ...app, created_at, refused_lately: 0 }]);
  });

  it('`app create` creates a sandbox app without a cap by default, and says that the key is shown only once', async () => {
    const { code, stdout } = await admin('app', 'create', '--name', 'plain');
    assert.equal(code, 0);
    assert.match(stdout, /^app_id {2}[0-9a-f-]{36}\nkey {5}fc_\S+\n\nThe key is shown only this once\.\n$/);
    const rows = await system.sql(`select plan, cap_cents, redirect_uris from apps where name = 'plain'`);
    assert.deepEqual(rows, [{ plan: 'sandbox', cap_cents: null, redirect_uris: [] }]);
  });

  it('`app update` changes only the fields that its options name', async () => {
    const { appId } = await makeApp();
    const before = await result('app', 'show', appId);
    const changed = await result(
      ...['app', 'update', appId, '--name', 'new', '--plan', 'paid', '--cap-cents', '0', '--no-supersede'],
      ...['--redirect-uri', 'https://a.example', '--min-confidence', '0.45', '--on-disconnect', 'cancel'],
      ...['--disable', 'predictions', '--disable', 'next_prompt'],
    );
    assert.deepEqual(changed, {
      ...before,
      name: 'new',
      plan: 'paid',
      monthly_cap_cents: 0,
      redirect_uris: ['https://a.example'],
      min_confidence: 0.45,
      supersede: false,
      on_disconnect: 'cancel',
      disabled: ['predictions', 'next_prompt'],
    });
    const again = await result(
      ...['app', 'update', appId, '--cap-cents', 'none', '--supersede'],
      ...['--enable', 'predictions', '--disable', 'next_prompt', '--disable', 'connections'],
    );
    const disabled = ['next_prompt', 'connections'];
    assert.deepEqual(again, { ...changed, monthly_cap_cents: null, supersede: true, disabled });
  });

  it("`app deactivate` disables an app's key, and `app update --active` enables the key again", async () => {
    const { appId, key } = await makeApp();
    assert.equal((await result('app', 'deactivate', appId)).active, false);
    assert.equal(await works(key), false);
    assert.equal((await result('app', 'update', appId, '--active')).active, true);
    assert.ok(await works(key));
  });

  it("`key rotate` ends an app's earlier keys at once, or with `--grace 60` after a minute", async () => {
    const { appId, key: first } = await makeApp();
    const { key: second } = await result('key', 'rotate', appId, '--grace', '60');
    assert.deepEqual(await Promise.all([first, second].map(works)), [true, true]);
    const { keys } = await result('app', 'show', appId);
    const grace = (Date.parse(keys[0].expires_at) - Date.now()) / 1000;
    assert.ok(grace > 30 && grace <= 61, `${grace} s`);
    assert.equal(keys[1].expires_at, null);

    const { key: third } = await result('key', 'rotate', appId);
    assert.deepEqual(await Promise.all([first, second, third].map(works)), [false, false, true]);
  });

  it("concurrent rotations of an app's key leave one working key", async () => {
    const { appId } = await makeApp();
    const keys = await Promise.all(Array.from({ length: 4 }, () => rotateKey(system.em(), appId, 0)));
    const working = await Promise.all(keys.map((key) => works(key ?? '')));
    assert.equal(working.filter(Boolean).length, 1);
  });

  it("`key revoke` revokes an app's key by its prefix, and refuses the prefix of another app's key", async () => {
    const [mine, other] = await Promise.all([makeApp(), makeApp()]);
    const prefix = mine.key.slice(0, 9);
    const refused = await admin('key', 'revoke', other.appId, '--prefix', prefix);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /^no working key of this app has that prefix: .*\n$/);
    assert.ok(await works(mine.key));
    assert.deepEqual(await result('key', 'revoke', mine.appId, '--prefix', prefix), { revoked: 1 });
    assert.deepEqual(await Promise.all([mine.key, other.key].map(works)), [false, true]);
  });

  it('the command line reports the usage of one app or of all apps, for this month or a given month', async () => {
    const { appId } = await makeApp();
    await system.sql(
      `insert into usage (app_id, month, reserved, settled, paid_reserved, paid_settled,
                          paid_reserved_microcents, paid_settled_microcents)
       values ($1, '2025-02', 3, 10, 1, 4, 200000, 12900000)`,
      [appId],
    );
    const call = { appId, model: 'priced' };
    await addToLedger(system.em(), [
      bookedCall({
        ...call,
        inputTokens: 1000,
        cachedTokens: 900,
        outputTokens: 20,
        costMicrocents: 123_456,
      }),
      bookedCall({ ...call, model: 'unpriced', inputTokens: 5, outputTokens: 1 }),
      bookedCall({ appId: newId(), costMicrocents: 1 }),
    ]);
    const [now, past, all] = await Promise.all([
      result('usage', appId),
      result('usage', appId, '--month', '2025-02'),
      result('usage', '--month', '2025-02'),
    ]);
    const rows = await system.sql('select month_of(now()) as month');
    assert.deepEqual([now.month, now.prediction_units], [rows[0]?.['month'], 0]);
    const spent = {
      provider_calls: 2,
      provider_input_tokens: 1005,
      provider_cached_tokens: 900,
      provider_output_tokens: 21,
      provider_cost_cents: 0.1235,
      provider_calls_unpriced: 1,
    };
    assert.deepEqual({ ...now, ...spent }, now);
    assert.deepEqual(past, {
      app_id: appId,
      month: '2025-02',
      plan: 'sandbox',
      prediction_units: 10,
      reserved_units: 3,
      paid_prediction_units: 4,
      invoice_cents: 12,
      monthly_cap_cents: null,
      sandbox_remaining: 1000 - 8,
      currency: 'USD',
      billing_model: 'manual',
      cap_scope: 'app',
      provider_calls: 0,
      provider_input_tokens: 0,
      provider_cached_tokens: 0,
      provider_output_tokens: 0,
      provider_cost_cents: 0,
      provider_calls_unpriced: 0,
    });
    const apps = await system.database.pool.query('select id from apps order by id');
    assert.deepEqual(
      all.map((one: { app_id: string }) => one.app_id),
      apps.rows.map(({ id }) => id),
    );
    assert.deepEqual(
      all.find((one: { app_id: string }) => one.app_id === appId),
      past,
    );
  });

  it('the command line reports the provider usage of an account, given its id or e-mail address', async () => {
    const account = { email: 'Ada@forecue.example', name: '', passwordHash: '' };
    const { id } = await createAccount(system.em(), account);
    await addToLedger(system.em(), [
      bookedCall({ accountId: id, costMicrocents: 2_000_000 }),
      bookedCall({ accountId: id, outcome: 'aborted', aborted: true, outputTokens: 0 }),
      // A call from a year ago, which does not count towards this month.
      bookedCall({ accountId: id, ageMs: 365 * 24 * 60 * 60 * 1000 }),
    ]);
    const [byId, byEmail, earlier] = await Promise.all([
      result('usage', '--user', id),
      result('usage', '--user', 'ada@forecue.example'),
      result('usage', '--user', id, '--month', '2020-01'),
    ]);
    assert.deepEqual(byId, {
      user_id: id,
      email: 'Ada@forecue.example',
      month: byId.month,
      provider_calls: 2,
      provider_input_tokens: 24,
      provider_cached_tokens: 0,
      provider_output_tokens: 5,
      provider_cost_cents: 2,
      provider_calls_unpriced: 1,
    });
    assert.deepEqual(byEmail, byId);
    assert.deepEqual([earlier.month, earlier.provider_calls], ['2020-01', 0]);
    const unknown = await admin('usage', '--user', NOBODY);
    assert.match(unknown.stderr, /^there is no such user: .*\n$/);
  });

  it('the command line reports errors in one line, on standard error', async () => {
    const refusals = await Promise.all([
      admin('app', 'show', NOBODY, '--json'),
      admin('usage', '17'),
      runAdmin(['app', 'list'], { DATABASE_URL: 'postgres://postgres:secret@127.0.0.1:1/forecue' }),
    ]);
    for (const { code, stdout } of refusals) assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    const [unknown, malformed, unreachable] = refusals.map(({ stderr }) => stderr);
    assert.equal(unknown, `there is no app ${NOBODY}: \`app list\` shows the apps\n`);
    assert.equal(malformed, 'the app id must be a UUID (`app list` shows them), not "17"\n');
    assert.match(unreachable ?? '', /^the database does not answer \(.*ECONNREFUSED.*\): start it .*\n$/);
    assert.doesNotMatch(unreachable ?? '', /secret/);
  });

  describe('app show', () => {
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
  });
});
