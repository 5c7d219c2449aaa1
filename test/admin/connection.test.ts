import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { type Exchanged, REDIRECT_URI } from '../support/connection.ts';
import { bareEnvironment } from '../support/environment.ts';
import { add } from '../support/memory.ts';
import { type System, startSystem } from '../support/system.ts';

const MAIN = fileURLToPath(new URL('../../bin/admin/main.ts', import.meta.url));

describe('the command line for connections', () => {
  let system: System;
  let app: AppClient;
  let person: UserClient;

  before(async () => {
    system = await startSystem();
    app = await system.app({ redirectUris: [REDIRECT_URI] });
    person = await signUp(system);
  });
  after(() => system.stop());

  const admin = async (args: string[], more: Record<string, string> = {}) => {
    const env = { ...bareEnvironment(), DATABASE_URL: system.database.url, ...more };
    const child = spawn(process.execPath, [MAIN, 'connection', 'create', ...args], { env });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { stdout, stderr };
  };
  const who = () => ['--email', person.email, '--user-id', 'u-1'];

  it('connects the only app with a user, so that predictions use the memory', async () => {
    await add(person, 'facts', { text: 'Deploys on Tuesdays' });
    const { stdout } = await admin([...who(), '--json']);
    const { connection_id, status, grant_revision } = JSON.parse(stdout) as Exchanged;
    assert.deepEqual([status, grant_revision], ['connected', 1]);
    const reply = await app.predict(predictionBody({ connection_id }));
    assert.equal(reply.status, 200, reply.text);
    const call = await system.provider.called(1);
    assert.deepEqual(call.record.memory?.facts, ['Deploys on Tuesdays']);
  });

  it('refuses what cannot be connected, on one line', async () => {
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

  it('leaves the consent to the person in production', async () => {
    const { stderr } = await admin([app.id, ...who()], {
      NODE_ENV: 'production',
      OPENAI_API_KEY: 'k',
      DEFAULT_MODEL: 'm',
    });
    assert.match(stderr, /^in production only the person connects an app/);
  });
});
