import assert from 'node:assert/strict';
import { SignJWT } from 'jose';
import { newId } from '../../../shared/ids.ts';
import {
  type KeyResponse,
  type NewKeyResponse,
  SCOPES,
  type Scope,
} from '../../../shared/schemas/accounts.ts';
import type { ValidationErrorBody } from '../../../shared/schemas/errors.ts';
import { looksLikeServiceKey } from '../../../shared/security/keys.ts';
import { anonymously, issueKey, logIn, renew, signUp, type UserClient } from '../../support/account.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

const KEYS = '/api/auth/keys/';
const SECRET = 'the-first-secret-has-32-bytes-or-more';
const ISSUER = 'http://localhost:8080';
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('account keys', () => {
  const env = { JWT_SECRET: SECRET, PUBLIC_URL: ISSUER, REPLY_TIMEOUT_MS: '1000' };
  const system = useSystem({ workers: 0, webs: 2, env });
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  const issue = async (label: string, scopes?: readonly Scope[], by = person) => {
    const { status, body, text } = await by.post<NewKeyResponse>(KEYS, { label, ...(scopes && { scopes }) });
    assert.equal(status, 201, text);
    return body;
  };
  const list = async () => (await person.get<{ results: KeyResponse[] }>(KEYS)).body;
  const read = async (id: string) => (await person.get<KeyResponse>(`${KEYS}${id}/`)).body;
  const use = (key: string, at = system.webs[0] ?? assert.fail()) =>
    anonymously(system, 'GET', KEYS, undefined, { headers: { 'x-service-api-key': key }, at });

  it("an account's key is shown in full only when it is issued; the list shows prefixes, newest key first", async () => {
    assert.deepEqual(await list(), { results: [] });
    const { id, key, created_at, ...rest } = await issue('laptop');
    assert.deepEqual(rest, { label: 'laptop' });
    assert.match(created_at, RFC_3339);
    assert.ok(looksLikeServiceKey(key));
    assert.equal(key.length, 'service_'.length + 43 + 6);

    const server = await issue('\u{1f5a5}'.repeat(200));
    const shown = { id, label: 'laptop', prefix: key.slice(0, 14), created_at, last_used_at: null };
    const { results } = await list();
    assert.deepEqual([results[0]?.id, results[1]], [server.id, shown]);
    assert.deepEqual(await read(id), shown);
  });

  it("an account's key is unknown from its `expires_at` on", async () => {
    const until = async (ms: number) => {
      const expires_at = new Date(Date.now() + ms).toISOString();
      const { status, body, text } = await person.post<NewKeyResponse>(KEYS, { label: 'guest', expires_at });
      assert.equal(status, 201, text);
      assert.equal((await read(body.id)).expires_at, expires_at);
      return (await use(body.key)).status;
    };
    assert.equal(await until(60_000), 200);
    assert.equal(await until(-1000), 401);
  });

  it("an account's key states its `expires_at` in UTC, and no time that UTC cannot state is accepted", async () => {
    const issueUntil = (expires_at: string) =>
      person.post<NewKeyResponse & ValidationErrorBody>(KEYS, { label: 'guest', expires_at });
    const { body } = await issueUntil('2030-02-28T23:30:00.1234-01:30');
    assert.equal(body.expires_at, '2030-03-01T01:00:00.123Z');
    for (const wrong of ['2030-06-30T23:59:60Z', '0000-02-29T00:00:00Z', '9999-12-31T23:59:59-00:01']) {
      const { status, body } = await issueUntil(wrong);
      const { loc, type, input } = body.detail[0] ?? assert.fail();
      const expected = [422, ['body', 'expires_at'], 'datetime_parsing', wrong];
      assert.deepEqual([status, loc, type, input], expected);
    }
  });

  it("an account's key is stored only as a hash, and is not logged", async () => {
    const { id, key } = await issue('secret');
    assert.equal((await use(key)).status, 200);
    const hashed = 'select hash = sha256($1::bytea) as is_hash from service_keys where id = $2';
    assert.deepEqual(await system.sql(hashed, [key, id]), [{ is_hash: true }]);
    assert.ok(!system.webs.some(({ log }) => log.includes(key)));
  });

  it("an account's keys need a label of 1 to 200 characters, and scopes that exist", async () => {
    const wrongScopes = [[], ['admin'], 'read', null, ['read', 1]].map((scopes) => ({ label: 'a', scopes }));
    const labels = [{}, { label: '' }, { label: 'x'.repeat(201) }, { label: null }];
    for (const body of [...labels, { label: 'a', scope: 'all' }, ...wrongScopes])
      assert.equal((await person.post(KEYS, body)).status, 422, JSON.stringify(body));
    assert.deepEqual(await list(), { results: [] });
  });

  it('a revoked key stops working at every ingress within two seconds, and leaves the list of keys', async () => {
    const [gone, kept] = [await issue('gone'), await issue('kept')];
    const statuses = async () =>
      pluck(await Promise.all(system.webs.map((web) => use(gone.key, web))), 'status').join();
    assert.equal(await statuses(), '200,200');
    const revoked = await person.request('DELETE', `${KEYS}${gone.id}/`);
    assert.deepEqual({ status: revoked.status, text: revoked.text }, { status: 204, text: '' });
    await until(async () => (await statuses()) === '401,401', 2000);
    assert.equal((await use(kept.key)).status, 200);
    assert.deepEqual(pluck((await list()).results, 'id'), [kept.id]);
    for (const method of ['GET', 'DELETE'])
      for (const id of [gone.id, 'no-uuid'])
        assert.equal((await person.request(method, `${KEYS}${id}/`)).code, 'not_found');
  });

  it("an account's key shows when it was last used, but not every use is written to the database", async () => {
    const { id, key } = await issue('busy');
    const lastUse = async () => (await read(id)).last_used_at;
    assert.equal(await lastUse(), null);
    await use(key);
    const first = await until(lastUse);
    assert.match(first, RFC_3339);
    const writes = () => system.sql(`select xmin::text from service_keys where id = $1`, [id]);
    const before = await writes();
    for (let i = 0; i < 20; i++) await use(key);
    assert.deepEqual([await writes(), await lastUse()], [before, first]);
  });

  const GUARDED_ACTIONS = [
    {
      what: 'issuing a key needs any valid access token',
      method: 'POST',
      path: KEYS,
      body: { label: 'k' },
      done: 201,
      withOldLogin: 201,
    },
    {
      what: 'erasing the account needs an access token from a log-in of the last ten minutes',
      method: 'DELETE',
      path: '/api/auth/me/',
      body: undefined,
      done: 204,
      withOldLogin: '403 fresh_login_required',
    },
  ] as const;
  for (const { what, method, path, body, done, withOldLogin } of GUARDED_ACTIONS)
    it(`${what}, and a key is not enough`, async () => {
      const attempt = async (headers: Record<string, string>) => {
        const { status, code } = await anonymously(system, method, path, body, { headers });
        return code === undefined ? status : `${status} ${code}`;
      };
      const bearer = (access: string) => ({ authorization: `Bearer ${access}` });
      const key = { 'x-service-api-key': await issueKey(person, SCOPES) };
      assert.equal(await attempt(key), '403 access_denied');

      const { refresh } = (await logIn(system, person)).body;
      await system.sql(
        `update refresh_tokens set created_at = created_at - interval '601 seconds' where hash = sha256($1)`,
        [Buffer.from(refresh)],
      );
      const old = bearer((await renew(system, refresh)).body.access);
      // A key that is sent with the token does not make the log-in fresh.
      for (const headers of [old, { ...old, ...key }]) assert.equal(await attempt(headers), withOldLogin);
      const me = await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers: old });
      assert.equal(me.status, 200);

      const ofLongAgo = new SignJWT({ sub: person.id, sid: newId(), jti: 'a-jti', auth_time: 0, gen: 0 })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'default' })
        .setIssuer(ISSUER)
        .setAudience(`${ISSUER}/api`)
        .setIssuedAt()
        .setExpirationTime('10 min');
      const token = await ofLongAgo.sign(Buffer.from(SECRET));
      assert.equal(await attempt(bearer(token)), withOldLogin);
      assert.equal(await attempt(bearer((await renew(system, person.refresh)).body.access)), done);
    });

  it('a key lists each of its scopes once, in a fixed order; a key issued without scopes lists none', async () => {
    const some = await issue('some', ['forget', 'read', 'read']);
    for (const { scopes } of [some, await read(some.id)]) assert.deepEqual(scopes, ['read', 'forget']);
    const all = await issue('all');
    for (const shown of [all, await read(all.id)]) assert.ok(!('scopes' in shown));
  });
});
