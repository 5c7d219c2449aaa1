import assert from 'node:assert/strict';
import { hashKey } from '../../shared/security/keys.ts';
import { Visitor } from '../connect/visitor.ts';
import { anonymously, someEmail, UserClient } from '../support/account.ts';
import { adminResult, runAdmin } from '../support/admin.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { connect, connectingApp, type ExchangeResponse } from '../support/connection.ts';
import { hang, ok } from '../support/fake-provider.ts';
import { add } from '../support/memory.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'a horse with 9 staples';

describe('users and invitations', () => {
  const system = useSystem({ env: { INVITE_ONLY: 'true' } });
  let app: AppClient;
  before(async () => {
    app = await connectingApp(system);
  });

  const admin = (args: string[], input?: string) =>
    runAdmin(args, { DATABASE_URL: system.database.url }, input);
  const result = (args: string[], input?: string) =>
    adminResult(args, { DATABASE_URL: system.database.url }, input);

  const login = (email: string, password: string) =>
    anonymously<{ access: string; refresh: string }>(system, 'POST', '/api/auth/login/', { email, password });

  const userWithKey = async () => {
    const email = someEmail();
    const { id } = await result(['user', 'create', '--email', email, '--password-stdin'], PASSWORD);
    const { access, refresh } = (await login(email, PASSWORD)).body;
    const person = new UserClient({ id, email, password: PASSWORD, access, refresh }, system);
    const { body } = await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'k' });
    const headers = { 'x-service-api-key': body.key };
    const statusByKey = async () =>
      (await anonymously(system, 'GET', '/api/auth/keys/', undefined, { headers })).status;
    return { id, email, refresh, person, statusByKey };
  };

  describe('connections', () => {
    let person: UserClient;
    before(async () => {
      system.provider.reset();
      ({ person } = await userWithKey());
    });

    const create = (args: string[], more: Record<string, string> = {}) =>
      runAdmin(['connection', 'create', ...args], { DATABASE_URL: system.database.url, ...more });
    const who = () => ['--email', person.email, '--user-id', 'u-1'];

    it("`connection create` without an app id connects the only app, whose predictions then use the account's memory", async () => {
      await add(person, 'facts', { text: 'Deploys on Tuesdays' });
      const { stdout } = await create([...who(), '--json']);
      const { connection_id, status, grant_revision } = JSON.parse(stdout) as ExchangeResponse;
      assert.deepEqual([status, grant_revision], ['connected', 1]);
      const reply = await app.predict(predictionBody({ connection_id }));
      assert.equal(reply.status, 200, reply.text);
      const call = await system.provider.called(1);
      assert.match(String(call.record.known?.facts), /^\d{4}-\d\d-\d\d Deploys on Tuesdays$/);
    });

    it("`connection revoke` ends a connection's running prediction, and `connection list` then shows `revoked`", async () => {
      const { connection_id } = JSON.parse((await create([...who(), '--json'])).stdout) as ExchangeResponse;
      const command = async (...args: string[]) => {
        const { stdout, stderr } = await runAdmin(['connection', ...args, '--json'], {
          DATABASE_URL: system.database.url,
        });
        return stdout === '' ? stderr : JSON.parse(stdout);
      };
      system.provider.respond(hang());
      const waiting = app.predict(predictionBody({ connection_id }));
      await until(() => system.provider.running === 1);
      assert.deepEqual(await command('revoke', connection_id), { connection_id, ended: 1 });
      assert.equal((await waiting).code, 'connection_revoked');
      for (const filter of [[], ['--app', app.id], ['--user', person.id]]) {
        const [listed] = await command('list', ...filter);
        assert.deepEqual(
          [listed.connection_id, listed.email, listed.user_id, listed.status],
          [connection_id, person.email, 'u-1', 'revoked'],
        );
      }
      const nobody = '00000000-0000-7000-8000-000000000000';
      assert.deepEqual(await command('list', '--user', nobody), []);
      for (const id of [nobody, 'x']) assert.match(await command('revoke', id), /^there is no connection/);
      system.provider.respond(ok());
    });

    it('`connection create` reports in one line why an app cannot be connected', async () => {
      const other = await system.app();
      const refusals: [string[], RegExp][] = [
        [who(), /^APP_ID is missing, and there is not exactly one app/],
        [[other.id, ...who()], /^the app has no redirect URI/],
        [['00000000-0000-7000-8000-000000000000', ...who()], /^there is no app/],
        [[app.id, '--email', 'nobody@example.com', '--user-id', 'u-1'], /^there is no user/],
        [[app.id, '--user-id', 'u-1'], /^--email is missing/],
      ];
      for (const [args, expected] of refusals) {
        const { stdout, stderr } = await create(args);
        assert.equal(stdout, '');
        assert.match(stderr, expected);
        assert.equal(stderr.trimEnd().split('\n').length, 1);
      }
    });

    it('`connection create` is refused in production, where only the person may consent', async () => {
      const { stderr } = await create([app.id, ...who()], {
        NODE_ENV: 'production',
        OPENAI_API_KEY: 'k',
        DEFAULT_MODEL: 'm',
      });
      assert.match(stderr, /^in production only the person connects an app/);
    });
  });

  it('the command line creates a user with a random password, which is shown once', async () => {
    const email = someEmail();
    const { id, password, created_at, ...rest } = await result([
      'user',
      'create',
      '--email',
      email,
      '--name',
      'Ada',
    ]);
    assert.deepEqual(rest, { email, name: 'Ada', active: true });
    assert.equal((await login(email, password)).status, 200);
    const list = await result(['user', 'list']);
    assert.deepEqual(list, [{ id, email, name: 'Ada', active: true, created_at }]);
    const shown = await admin(['user', 'list']);
    assert.ok(shown.stdout.includes(email) && !shown.stdout.includes(password));
  });

  it('`user create --password-stdin` reads the password from standard input, and does not print the password', async () => {
    const email = someEmail();
    const made = await result(['user', 'create', '--email', email, '--password-stdin'], `${PASSWORD}\n`);
    assert.deepEqual(Object.keys(made), ['id', 'email', 'name', 'active', 'created_at']);
    assert.equal((await login(email, PASSWORD)).status, 200);
  });

  it('the command line checks new users by the sign-up rules, and reports an error in one line', async () => {
    const email = someEmail();
    await result(['user', 'create', '--email', email]);
    const refusals: [string[], string, RegExp][] = [
      [['--email', email.toUpperCase()], '', /a user with this e-mail address/],
      [['--email', 'nobody'], '', /^email: Input should be a valid e-mail address/],
      [['--email', someEmail(), '--password-stdin'], 'short', /^password: String should have at least 10/],
      [['--email', someEmail(), '--password-stdin'], 'password123\n', /too common/],
      [['--email', someEmail(), '--password-stdin'], '', /^password: /],
      [['--name', 'Ada'], '', /^--email is missing/],
    ];
    for (const [args, input, expected] of refusals) {
      const { stdout, stderr } = await admin(['user', 'create', ...args], input);
      assert.equal(stdout, '');
      assert.match(stderr, expected);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
    }
  });

  it('the command line creates an invitation that works once', async () => {
    const { code, ...rest } = await result(['invite', 'create']);
    assert.deepEqual(rest, {});
    const join = () =>
      anonymously(system, 'POST', '/api/auth/signup/', {
        email: someEmail(),
        password: PASSWORD,
        invite_code: code,
      });
    assert.deepEqual([(await join()).status, (await join()).code], [201, 'invite_required']);
  });

  it("`user disable` ends a user's credentials within two seconds, and the predictions on the user's connections", async () => {
    const { id, email, refresh, person, statusByKey } = await userWithKey();
    const { connection_id } = await connect(system, app, person, 'u-2');
    system.provider.respond(hang());
    const waiting = app.predict(predictionBody({ user_id: 'u-2', connection_id }));
    await until(() => system.provider.running === 1);

    const disabled = await result(['user', 'disable', id.toUpperCase()]);
    assert.deepEqual([disabled.id, disabled.active], [id, false]);
    const statuses = async () => {
      const [byToken, byKey, renewal] = await Promise.all([
        person.request('GET', '/api/auth/keys/'),
        statusByKey(),
        anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh }),
      ]);
      return [byToken.status, byKey, renewal.status].join();
    };
    await until(async () => (await statuses()) === '401,401,401', 2000);
    assert.equal((await login(email, PASSWORD)).code, 'invalid_credentials');
    assert.equal((await waiting).code, 'connection_revoked');
    const again = await app.predict(predictionBody({ user_id: 'u-2', connection_id }));
    assert.equal(again.code, 'connection_revoked');
    assert.equal((await result(['user', 'disable', id])).active, false);
  });

  it('`user enable` lets a disabled user log in again, but keys from before stay revoked', async () => {
    const { id, email, statusByKey } = await userWithKey();
    await result(['user', 'disable', id]);
    assert.equal((await login(email, PASSWORD)).code, 'invalid_credentials');
    assert.equal((await result(['user', 'enable', id])).active, true);
    assert.equal((await login(email, PASSWORD)).status, 200);
    assert.equal(await statusByKey(), 401);
    assert.equal((await result(['user', 'enable', id])).active, true);
  });

  it('the command line erases a user only with --yes', async () => {
    const email = someEmail();
    const { id } = await result(['user', 'create', '--email', email]);
    assert.match((await admin(['user', 'erase', id])).stderr, /for good: repeat it with --yes/);
    assert.deepEqual(await result(['user', 'erase', id, '--yes']), { id, finished: true });
    const rows = await system.sql('select from accounts where id = $1', [id]);
    assert.equal(rows.length, 0);
    assert.match((await admin(['user', 'erase', id, '--yes'])).stderr, /there is no user/);
  });

  it('the command line lists invitations without their codes', async () => {
    const { code } = await result(['invite', 'create']);
    const list = await result(['invite', 'list']);
    assert.equal(list[0].used_at, null);
    assert.ok(!JSON.stringify(list).includes(code));
  });

  it('the command line resets a password by a link or from standard input, and revokes keys only with --revoke-keys', async () => {
    const { id, email, refresh, person, statusByKey } = await userWithKey();
    const { link, ...shown } = await adminResult(['user', 'reset-password', id], {
      DATABASE_URL: system.database.url,
      PUBLIC_URL: 'https://forecue.example/here/ ',
    });
    assert.deepEqual([shown.id, shown.email], [id, email]);
    assert.match(link, /^https:\/\/forecue\.example\/here\/connect\/new-password\?token=[\w-]{43}$/);
    assert.equal((await person.request('GET', '/api/auth/keys/')).status, 200);
    const { hash } = (await system.database.pool.query('select * from password_resets')).rows[0];
    assert.deepEqual(hash, hashKey(new URL(link).searchParams.get('token') ?? ''));
    const password = 'a horse with 10 staples';
    const url = link.replace('https://forecue.example/here', system.webs[0]?.url);
    const visitor = new Visitor();
    await visitor.get(url);
    assert.equal((await visitor.submit(url.replace(/\?.*/, ''), { password })).status, 200);
    await until(async () => (await person.request('GET', '/api/auth/keys/')).code === 'token_expired', 2000);
    assert.equal((await anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh })).status, 401);
    assert.equal((await login(email, PASSWORD)).status, 401);
    assert.deepEqual([(await login(email, password)).status, await statusByKey()], [200, 200]);

    const args = ['user', 'reset-password', id, '--password-stdin', '--revoke-keys'];
    assert.ok(!('password' in (await result(args, PASSWORD))));
    assert.equal((await login(email, PASSWORD)).status, 200);
    await until(async () => (await statusByKey()) === 401, 2000);
    assert.match((await admin(args, 'password123')).stderr, /too common/);
    assert.match(
      (await admin(['user', 'reset-password', id, '--revoke-keys'])).stderr,
      /with --password-stdin/,
    );
  });

  for (const name of ['disable', 'enable', 'reset-password'])
    it(`\`admin user ${name}\` refuses an unknown, malformed or missing user id`, async () => {
      const nobody = '00000000-0000-7000-8000-000000000000';
      assert.match((await admin(['user', name, nobody])).stderr, /there is no (active )?user/);
      assert.match((await admin(['user', name, 'ada'])).stderr, /the user id must be a UUID/);
      assert.match((await admin(['user', name])).stderr, /USER_ID is missing/);
    });
});
