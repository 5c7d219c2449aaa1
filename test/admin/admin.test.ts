import assert from 'node:assert/strict';
import packageJson from '../../package.json' with { type: 'json' };
import { type Database, openDatabase } from '../../shared/db/orm.ts';
import { createAccount } from '../../shared/db/stores/accounts.ts';
import { createApp, findAppsByKey, rotateKey } from '../../shared/db/stores/apps.ts';
import { addToLedger } from '../../shared/db/stores/provider-calls.ts';
import { newId } from '../../shared/ids.ts';
import { createLog } from '../../shared/log.ts';
import { hashKey, looksLikeAppKey } from '../../shared/security/keys.ts';
import { adminResult, runAdmin as run } from '../support/admin.ts';
import { bookedCall } from '../support/booked-call.ts';
import { administer, createDatabase, databaseUrl, useDatabase } from '../support/database.ts';

const NOBODY = '00000000-0000-7000-8000-000000000000';

describe('command line', () => {
  const test = useDatabase();
  let database: Database;

  before(async () => {
    const config = { database: { url: test.url, directUrl: test.url, poolSize: 4 } };
    database = await openDatabase(config, createLog('test', 'silent'), 'forecue test');
  });

  after(() => database.close());

  const admin = (...args: string[]) => run(args, { DATABASE_URL: test.url });

  const result = (...args: string[]) => adminResult(args, { DATABASE_URL: test.url });

  const works = async (key: string) => {
    const [app] = await findAppsByKey(database.pool, [hashKey(key)]);
    return app !== undefined;
  };

  const makeApp = () =>
    createApp(database.orm.em.fork(), { name: 'test', redirectUris: [], plan: 'sandbox', capCents: null });

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
    const { created_at, keys, used, using, refused, ...app } = shown;
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
    });
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(keys, [{ prefix: key.slice(0, 9), created_at, expires_at: null }]);
    assert.deepEqual([used.prediction_units, using.running, refused], [0, 0, []]);
    assert.deepEqual(list, [{ ...app, created_at, refused_lately: 0 }]);
  });

  it('`app create` creates a sandbox app without a cap by default, and says that the key is shown only once', async () => {
    const { code, stdout } = await admin('app', 'create', '--name', 'plain');
    assert.equal(code, 0);
    assert.match(stdout, /^app_id {2}[0-9a-f-]{36}\nkey {5}fc_\S+\n\nThe key is shown only this once\.\n$/);
    const { rows } = await test.pool.query(
      `select plan, cap_cents, redirect_uris from apps where name = 'plain'`,
    );
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
    const keys = await Promise.all(
      Array.from({ length: 4 }, () => rotateKey(database.orm.em.fork(), appId, 0)),
    );
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
    await test.pool.query(
      `insert into usage (app_id, month, reserved, settled, paid_reserved, paid_settled,
                          paid_reserved_microcents, paid_settled_microcents)
       values ($1, '2025-02', 3, 10, 1, 4, 200000, 12900000)`,
      [appId],
    );
    const call = { app_id: appId, model: 'priced' };
    await addToLedger(test.pool, [
      bookedCall({
        ...call,
        input_tokens: 1000,
        cached_tokens: 900,
        output_tokens: 20,
        cost_microcents: 123_456,
      }),
      bookedCall({ ...call, model: 'unpriced', input_tokens: 5, output_tokens: 1 }),
      bookedCall({ app_id: newId(), cost_microcents: 1 }),
    ]);
    const [now, past, all] = await Promise.all([
      result('usage', appId),
      result('usage', appId, '--month', '2025-02'),
      result('usage', '--month', '2025-02'),
    ]);
    const { rows } = await test.pool.query('select month_of(now()) as month');
    assert.deepEqual([now.month, now.prediction_units], [rows[0].month, 0]);
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
    const apps = await test.pool.query('select id from apps order by id');
    assert.deepEqual(
      all.map((one: { app_id: string }) => one.app_id),
      apps.rows.map(({ id }) => id),
    );
    assert.deepEqual(
      all.find((one: { app_id: string }) => one.app_id === appId),
      past,
    );
  });

  it('`admin usage` allows its database statements ten minutes', async () => {
    const large = await createDatabase();
    const resultThere = (...args: string[]) => adminResult(args, { DATABASE_URL: large.url });
    try {
      const { app_id } = await resultThere('app', 'create', '--name', 'large');
      // Replaces the ledger by one call of each app, whose number of input tokens is the statement timeout in seconds.
      await large.pool.query(
        `alter table provider_calls rename to ledger;
         create view provider_calls as
           select id as app_id, now() as at, 0 as cached_tokens, 0 as output_tokens, 0 as cost_microcents,
                  extract(epoch from current_setting('statement_timeout')::interval)::int as input_tokens
             from apps`,
      );
      assert.equal((await resultThere('usage', app_id)).provider_input_tokens, 600);
    } finally {
      await large.drop();
    }
  });

  it('the command line reports the provider usage of an account, given its id or e-mail address', async () => {
    const account = { email: 'Ada@forecue.example', name: '', passwordHash: '' };
    const { id } = await createAccount(database.orm.em.fork(), account);
    await addToLedger(test.pool, [
      bookedCall({ account_id: id, cost_microcents: 2_000_000 }),
      bookedCall({ account_id: id, outcome: 'aborted', aborted: true, output_tokens: 0 }),
      // A call from a year ago, which does not count towards this month.
      bookedCall({ account_id: id, age_ms: 365 * 24 * 60 * 60 * 1000 }),
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

  it('the doctor finds nothing wrong with a healthy installation', async () => {
    const { ok, checks } = await result('doctor');
    const names = checks.map((check: { name: string }) => check.name);
    const stores = ['database', 'migrations', 'pooler', 'connections', 'disk', 'queue'];
    assert.deepEqual(names, [...stores, 'provider', 'clock', 'processes']);
    assert.ok(ok);
    for (const check of checks) assert.deepEqual([check.ok, check.to_do, check.see], [true, null, null]);
  });

  it('the doctor reports which migrations a database lacks, and what to do', async () => {
    const server = process.env['FORECUE_TEST_SERVER'] ?? '';
    const name = `${new URL(test.url).pathname.slice(1)}_empty`;
    await administer(server, `create database ${name}`);
    try {
      const env = { DATABASE_URL: databaseUrl(server, name), DEFAULT_MODEL: 'some-model' };
      const [examined, list] = await Promise.all([run(['doctor', '--json'], env), run(['app', 'list'], env)]);
      assert.equal(examined.code, 1);
      const { ok, checks } = JSON.parse(examined.stdout);
      assert.equal(ok, false);
      const faulty = checks.filter((check: { ok: boolean }) => !check.ok);
      const names = faulty.map(({ name }: { name: string }) => name);
      assert.deepEqual(names, ['migrations', 'connections', 'queue', 'provider', 'processes']);
      const [migrations, , queue] = faulty;
      assert.match(migrations.found, /^missing: Migration\d+(, Migration\d+)*$/);
      assert.match(migrations.to_do, /npm run migrate/);
      assert.match(queue.to_do, /npm run migrate/);
      assert.deepEqual([list.code, list.stdout], [1, '']);
      assert.match(list.stderr, /^the database is not up to date: run `npm run migrate`\n$/);
    } finally {
      await administer(server, `drop database ${name} with (force)`);
    }
  });

  it('the command line reports errors in one line, on standard error', async () => {
    const refusals = await Promise.all([
      admin('app', 'show', NOBODY, '--json'),
      admin('usage', '17'),
      run(['app', 'list'], { DATABASE_URL: 'postgres://postgres:secret@127.0.0.1:1/forecue' }),
    ]);
    for (const { code, stdout } of refusals) assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    const [unknown, malformed, unreachable] = refusals.map(({ stderr }) => stderr);
    assert.equal(unknown, `there is no app ${NOBODY}: \`app list\` shows the apps\n`);
    assert.equal(malformed, 'the app id must be a UUID (`app list` shows them), not "17"\n');
    assert.match(unreachable ?? '', /^the database does not answer \(.*ECONNREFUSED.*\): start it .*\n$/);
    assert.doesNotMatch(unreachable ?? '', /secret/);
  });

  it('the command line lists its commands when it is given no command or an unknown command', async () => {
    for (const { code, stdout, stderr } of await Promise.all([admin(), admin('app', 'destroy')])) {
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^Usage: npm run -s admin -- .*\n\n {2}app create +Create an app/);
    }
  });

  it('the command line explains all commands or one command with --help, and shows its version with --version', async () => {
    const [all, short, one, version] = await Promise.all([
      admin('--help'),
      admin('-h'),
      admin('app', 'show', '--help'),
      admin('--version'),
    ]);
    for (const { code, stderr } of [all, short, one, version]) assert.deepEqual([code, stderr], [0, '']);
    assert.match(all.stdout, /^Usage: .*\n\n {2}app create +Create an app/);
    assert.equal(short.stdout, all.stdout);
    assert.match(one.stdout, /\nUsage: .* app show APP_ID \[--json\]\n\nExample: .* app show 019/);
    assert.equal(version.stdout, `${packageJson.version}\n`);
  });
});
