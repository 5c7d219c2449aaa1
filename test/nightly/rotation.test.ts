import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { rotateKey } from '../../shared/db/stores/apps.ts';
import type { LoginResponse } from '../../shared/schemas/accounts.ts';
import { anonymously, signUp } from '../support/account.ts';
import { AppClient } from '../support/client.ts';
import { administer } from '../support/database.ts';
import { delay, ok, status } from '../support/fake-provider.ts';
import { type Installation, rollingRestart } from '../support/rolling-restart.ts';
import { interruptionsIn } from '../support/under-load.ts';
import { until } from '../support/until.ts';

const OLD_SECRET = 'default:the-first-secret-has-32-bytes-or-more';
const NEW_SECRET = 'new:the-second-secret-has-32-bytes-or-more';
const PROVIDER_KEYS = { old: 'sk-old', new: 'sk-new' };
const GRACE_S = 600;
const PAUSE_MS = 100;

/** Creates a role that acts as the owner of the tables, as in docs/operating.md. */
async function makeRole(server: string): Promise<{ name: string; url: (database: string) => string }> {
  const name = `forecue_${randomBytes(6).toString('hex')}`;
  const { username: owner } = new URL(server);
  await administer(server, `create role ${name} login password '${name}'`);
  await administer(server, `grant ${owner} to ${name}`);
  await administer(server, `alter role ${name} set role ${owner}`);
  return {
    name,
    url(database) {
      const url = new URL(database);
      [url.username, url.password] = [name, name];
      return url.href;
    },
  };
}

describe('the rotation of the signing secret, app keys, the database role and the provider key under load', () => {
  const server = () => process.env['FORECUE_TEST_SERVER'] ?? '';
  let made: string[] = [];
  afterEach(async () => {
    for (const name of made) await administer(server(), `drop role if exists ${name}`);
    made = [];
  });

  it('rotating the signing secret, app key, database role and provider key by rolling restarts fails no call with a valid credential', async () => {
    const roles = [await makeRole(server()), await makeRole(server())] as const;
    made = roles.map(({ name }) => name);
    const failed: string[] = [];
    const accepted = new Set([`Bearer ${PROVIDER_KEYS.old}`]);
    const callers: { stop(): Promise<void> }[] = [];
    let login: LoginResponse | undefined;
    let logIn = async () => ({ status: 0, text: '' });

    /** Repeats a call until its caller is stopped, and notes each answer other than 200 as failed. */
    const keepCalling = (what: string, ask: () => Promise<{ status: number; text: string }>) => {
      let isOver = false;
      const done = (async () => {
        while (!isOver) {
          const { status, text } = await ask();
          if (status !== 200) failed.push(`${what}: ${status} ${text}`);
          await sleep(PAUSE_MS);
        }
      })();
      callers.push({
        async stop() {
          isOver = true;
          await done;
        },
      });
    };
    const databaseOf = ({ system }: Installation, role: 0 | 1) => {
      const url = roles[role].url(system.database.url);
      return { DATABASE_URL: url, DATABASE_DIRECT_URL: url };
    };
    const sessionsOf = async ({ system }: Installation, role: 0 | 1) => {
      const rows = await system.sql<{ n: number }>(
        'select count(*)::int as n from pg_stat_activity where usename = $1',
        [roles[role].name],
      );
      return rows[0]?.n;
    };
    const before = async (round: number, installation: Installation) => {
      const { system, url } = installation;
      const at = { url };
      if (round === 0) {
        system.provider.respond((response, call) => {
          const isRight = accepted.has(call.headers.authorization ?? '');
          return (isRight ? delay(50, ok()) : status(401))(response, call);
        });
        const { email, password } = await signUp(system);
        logIn = async () => {
          const reply = await anonymously<LoginResponse>(
            system,
            'POST',
            '/api/auth/login/',
            { email, password },
            { at },
          );
          login = reply.body;
          return reply;
        };
        await logIn();
        const me = () =>
          anonymously(system, 'GET', '/api/auth/me/', undefined, {
            at,
            headers: { authorization: `Bearer ${login?.access}` },
          });
        keepCalling('access token', me);
        keepCalling('new access token', logIn);
        const { id, key } = await system.app();
        const next = await rotateKey(system.em(), id, GRACE_S);
        for (const one of [key, next ?? ''])
          keepCalling('app key', () => new AppClient(id, one, url).usage());
        return {
          ...databaseOf(installation, 0),
          JWT_SECRET: `${OLD_SECRET},${NEW_SECRET}`,
          OPENAI_API_KEY: PROVIDER_KEYS.old,
        };
      }
      accepted.add(`Bearer ${PROVIDER_KEYS.new}`);
      const later = { ...databaseOf(installation, 1), OPENAI_API_KEY: PROVIDER_KEYS.new };
      if (round === 1) return { ...later, JWT_SECRET: `${NEW_SECRET},${OLD_SECRET}` };
      await until(async () => (await sessionsOf(installation, 0)) === 0);
      await administer(server(), `drop role ${roles[0].name}`);
      accepted.delete(`Bearer ${PROVIDER_KEYS.old}`);
      // Replaces the token, since tokens signed with the old secret are refused from now on.
      await logIn();
      return { ...later, JWT_SECRET: NEW_SECRET };
    };

    const env = {
      JWT_SECRET: OLD_SECRET,
      PUBLIC_URL: 'http://localhost:8080',
      OPENAI_API_KEY: PROVIDER_KEYS.old,
    };
    const run = await rollingRestart({
      rounds: 3,
      perSecond: 20,
      env,
      before,
      after: () => Promise.all(callers.map((caller) => caller.stop())),
    });
    assert.deepEqual(failed, []);
    assert.deepEqual(interruptionsIn(run), [], JSON.stringify(run));
  });
});
