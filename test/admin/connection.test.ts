import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { runAdmin } from '../support/admin.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { type ExchangeResponse, REDIRECT_URI } from '../support/connection.ts';
import { hang, ok } from '../support/fake-provider.ts';
import { add } from '../support/memory.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('command line for connections', () => {
  const system = useSystem();
  let app: AppClient;
  let person: UserClient;

  before(async () => {
    app = await system.app({ redirectUris: [REDIRECT_URI] });
    person = await signUp(system);
  });

  const admin = (args: string[], more: Record<string, string> = {}) =>
    runAdmin(['connection', 'create', ...args], { DATABASE_URL: system.database.url, ...more });
  const who = () => ['--email', person.email, '--user-id', 'u-1'];

  it("`connection create` without an app id connects the only app, whose predictions then use the account's memory", async () => {
    await add(person, 'facts', { text: 'Deploys on Tuesdays' });
    const { stdout } = await admin([...who(), '--json']);
    const { connection_id, status, grant_revision } = JSON.parse(stdout) as ExchangeResponse;
    assert.deepEqual([status, grant_revision], ['connected', 1]);
    const reply = await app.predict(predictionBody({ connection_id }));
    assert.equal(reply.status, 200, reply.text);
    const call = await system.provider.called(1);
    assert.deepEqual(call.record.known?.facts, ['Deploys on Tuesdays']);
  });

  it("`connection revoke` ends a connection's running prediction, and `connection list` then shows `revoked`", async () => {
    const { connection_id } = JSON.parse((await admin([...who(), '--json'])).stdout) as ExchangeResponse;
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
      const { stdout, stderr } = await admin(args);
      assert.equal(stdout, '');
      assert.match(stderr, expected);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
    }
  });

  it('`connection create` is refused in production, where only the person may consent', async () => {
    const { stderr } = await admin([app.id, ...who()], {
      NODE_ENV: 'production',
      OPENAI_API_KEY: 'k',
      DEFAULT_MODEL: 'm',
    });
    assert.match(stderr, /^in production only the person connects an app/);
  });
});
