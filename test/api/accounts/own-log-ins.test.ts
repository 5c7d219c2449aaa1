import assert from 'node:assert/strict';
import type { LogInList, LoginResponse } from '../../../shared/schemas/accounts.ts';
import { anonymously, clientWithKey, issueKey, renew, signUp, UserClient } from '../../support/account.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const EDGE =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0';
const HOSTILE = `<script>alert("x")</script> ${'a/'.repeat(3000)}`;

describe("an account's list of log-ins", () => {
  const system = useSystem({
    webs: 2,
    workers: 0,
    env: { JWT_SECRET: 'of-both-ingresses-and-32-bytes-or-more', PUBLIC_URL: 'http://localhost:8080' },
  });
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  async function logInWith(userAgent: string): Promise<UserClient> {
    const { email, password } = person;
    const headers = { 'user-agent': userAgent };
    const { body } = await anonymously<LoginResponse>(
      system,
      'POST',
      '/api/auth/login/',
      { email, password },
      { headers },
    );
    return new UserClient({ ...person, access: body.access, refresh: body.refresh }, system);
  }
  const listOf = async (who: UserClient) => (await who.get<LogInList>('/api/auth/log-ins/')).body.results;
  const ownId = async (who: UserClient) => (await listOf(who)).find(({ current }) => current)?.id ?? '';
  const end = (who: UserClient, id: string) => who.request('DELETE', `/api/auth/log-ins/${id}/`);
  const statusAt = async ({ access }: UserClient) => {
    const headers = { authorization: `Bearer ${access}` };
    const answers = await Promise.all(
      system.webs.map((at) => anonymously(system, 'GET', '/api/auth/me/', undefined, { headers, at })),
    );
    return answers.map(({ code, status }) => code ?? status).join();
  };

  it('log-ins are listed with browser or program, system and times, and which of them asks', async () => {
    const firefox = await logInWith(FIREFOX);
    for (const one of [SAFARI, EDGE, 'curl/8.14.1', 'Mozilla/5.0', HOSTILE]) await logInWith(one);
    const list = await listOf(firefox);
    const devices = list.map(({ client, system }) => `${client} ${system}`);
    assert.deepEqual(devices.slice(0, -1), [
      'null null',
      'null null',
      'curl null',
      'Edge Windows',
      'Safari iOS',
      'Firefox Linux',
    ]);
    assert.deepEqual(
      list.filter(({ current }) => current).map(({ client }) => client),
      ['Firefox'],
    );
    for (const { created_at, last_used_at } of list) assert.equal(last_used_at, created_at);
  });

  it('a renewal is the last use of a log-in', async () => {
    await system.sql(
      `update refresh_tokens set created_at = created_at - interval '1 day', last_used_at = last_used_at - interval '1 day' where account_id = $1`,
      [person.id],
    );
    assert.equal((await renew(system, person.refresh)).status, 200);
    const [one] = await listOf(person);
    assert.ok(one && Date.parse(one.last_used_at) - Date.parse(one.created_at) > 12 * 3600_000);
  });

  it('a log-in that its owner ends is refused at every ingress within two seconds, and other log-ins go on', async () => {
    const other = await logInWith(FIREFOX);
    const renewed = new UserClient(
      { ...other, access: (await renew(system, other.refresh)).body.access },
      system,
    );
    assert.equal(await statusAt(other), '200,200');
    assert.equal((await end(person, await ownId(other))).status, 204);
    assert.equal((await renew(system, other.refresh)).code, 'not_authenticated');
    for (const ended of [other, renewed])
      await until(async () => (await statusAt(ended)) === 'token_expired,token_expired');
    assert.equal(await statusAt(person), '200,200');
    assert.equal((await renew(system, person.refresh)).status, 200);
    assert.equal((await listOf(person)).length, 1);
  });

  it('an ended log-in neither issues a key nor ends other log-ins nor erases the account, even where it is cached', async () => {
    const other = await logInWith(FIREFOX);
    const ownIds = [await ownId(person), await ownId(other)];
    assert.equal(await statusAt(other), '200,200');
    assert.equal((await end(person, ownIds[1] ?? '')).status, 204);
    const refused = [
      await other.post('/api/auth/keys/', { label: 'k' }),
      await end(other, ownIds[0] ?? ''),
      await other.request('DELETE', '/api/auth/log-ins/'),
      await other.request('DELETE', '/api/auth/me/'),
    ];
    assert.deepEqual(pluck(refused, 'code'), Array(4).fill('token_expired'));
    assert.equal((await listOf(person)).length, 1);
  });

  it('ending all others leaves the log-in that asks, and signs browsers out of the consent page', async () => {
    const others = [await logInWith(FIREFOX), await logInWith(EDGE)];
    await system.sql(
      `insert into web_sessions (hash, account_id, created_at, expires_at) values (sha256('x'), $1, now(), now() + interval '1 hour')`,
      [person.id],
    );
    const key = await issueKey(person);
    assert.equal((await person.request('DELETE', '/api/auth/log-ins/')).status, 204);
    for (const { refresh } of others) assert.equal((await renew(system, refresh)).status, 401);
    for (const other of others)
      await until(async () => (await statusAt(other)) === 'token_expired,token_expired');
    assert.equal(await statusAt(person), '200,200');
    assert.deepEqual(await system.sql('select from web_sessions where account_id = $1', [person.id]), []);
    assert.equal((await listOf(person)).length, 1);
    const headers = { 'x-service-api-key': key };
    const byKey = await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers });
    assert.equal(byKey.status, 200);
  });

  it('a log-in can end itself; one that is unknown or ended is 404', async () => {
    const other = await logInWith(FIREFOX);
    const id = await ownId(other);
    assert.equal((await end(other, id)).status, 204);
    assert.equal((await renew(system, other.refresh)).status, 401);
    assert.equal((await end(person, id)).code, 'not_found');
  });

  it('a key sees the log-ins, and ends none', async () => {
    const key = await clientWithKey(person, ['read']);
    const [one, ...others] = await listOf(key);
    assert.deepEqual([one?.current, others], [false, []]);
    const allKey = await clientWithKey(person, ['read', 'predict', 'write', 'forget', 'decide', 'record']);
    for (const by of [key, allKey]) {
      assert.equal((await end(by, one?.id ?? '')).code, 'access_denied');
      assert.equal((await by.request('DELETE', '/api/auth/log-ins/')).code, 'access_denied');
    }
    assert.equal((await renew(system, person.refresh)).status, 200);
  });
});
