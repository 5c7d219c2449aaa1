import assert from 'node:assert/strict';
import type { LoginResponse } from '../../../shared/schemas/accounts.ts';
import type { PasskeyAssertion, PasskeyList, PasskeyRequest } from '../../../shared/schemas/passkeys.ts';
import { anonymously, clientWithKey, renew, signUp, type UserClient } from '../../support/account.ts';
import { Authenticator } from '../../support/authenticator.ts';
import { registerPasskey } from '../../support/passkeys.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';

const ORIGIN = 'https://forecue.example';

describe('passkeys', () => {
  const system = useSystem({ workers: 0, env: { PUBLIC_URL: ORIGIN, TRUST_PROXY: 'loopback' } });
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  const register = (of = person, authenticator = new Authenticator()) =>
    registerPasskey(of, ORIGIN, { authenticator });
  const options = async (headers: Record<string, string> = {}) =>
    anonymously<PasskeyRequest>(system, 'POST', '/console/auth/passkeys/options/', undefined, { headers });
  const challenge = async () => (await options()).body.challenge;
  const logIn = (credential: PasskeyAssertion, headers: Record<string, string> = {}) =>
    anonymously<LoginResponse>(system, 'POST', '/console/auth/passkeys/login/', { credential }, { headers });
  const list = async (of = person) => (await of.get<PasskeyList>('/api/auth/passkeys/')).body.results;

  it('a passkey logs in beside the password, with a cookie of the console', async () => {
    const { authenticator, passkey } = await register();
    assert.deepEqual([passkey.name, passkey.backed_up, passkey.last_used_at], ['A laptop', true, null]);
    const asked = await options();
    assert.deepEqual([asked.body.rpId, asked.body.userVerification], ['forecue.example', 'required']);
    const answer = await logIn(authenticator.get({ challenge: asked.body.challenge, origin: ORIGIN }));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.user.id, person.id);
    assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-forecue-console=[\w-]{43}; /);
    const headers = { authorization: `Bearer ${answer.body.access}` };
    const erased = await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers });
    assert.equal(erased.status, 200);
    assert.notEqual((await list())[0]?.last_used_at, null);
  });

  it('a challenge to log in works once, and not after five minutes', async () => {
    const { authenticator } = await register();
    const credential = authenticator.get({ challenge: await challenge(), origin: ORIGIN });
    const answers = await Promise.all([logIn(credential), logIn(credential)]);
    assert.deepEqual(pluck(answers, 'status').sort(), [200, 401]);
    const late = authenticator.get({ challenge: await challenge(), origin: ORIGIN });
    await system.sql(`update passkey_challenges set expires_at = now()`);
    assert.equal((await logIn(late)).code, 'invalid_credentials');
  });

  it('a log-in with a falsified answer of an authenticator is 401, whatever is wrong with it', async () => {
    const { authenticator } = await register();
    const right = { challenge: await challenge(), origin: ORIGIN };
    const registration = await person.post<{ challenge: string }>('/api/auth/passkeys/options/');
    const other = new Authenticator();
    const good = authenticator.get(right);
    const wrong = [
      authenticator.get({ ...right, origin: 'https://evil.example', rpId: 'forecue.example' }),
      authenticator.get({ ...right, rpId: 'evil.example' }),
      authenticator.get({ ...right, challenge: 'x'.repeat(43) }),
      authenticator.get({ ...right, challenge: registration.body.challenge }),
      // Present, but not verified by PIN or finger; and verified, but not present.
      authenticator.get({ ...right, challenge: await challenge(), flags: 0x01 }),
      authenticator.get({ ...right, challenge: await challenge(), flags: 0x04 }),
      other.get({ ...right, challenge: await challenge() }),
      { ...other.get({ ...right, challenge: await challenge() }), id: good.id, rawId: good.id },
      { ...good, response: { ...good.response, clientDataJSON: 'AAAA' } },
      { ...good, response: { ...good.response, authenticatorData: 'AAAA' } },
      { ...good, response: { ...good.response, signature: 'AAAA' } },
    ];
    for (const credential of wrong) {
      const { status, code, text } = await logIn(credential);
      assert.deepEqual([status, code], [401, 'invalid_credentials'], text);
    }
  });

  it('an authenticator whose counter does not go up is refused: it may be a copy', async () => {
    const { authenticator } = await register();
    const at = async (counter: number) =>
      (await logIn(authenticator.get({ challenge: await challenge(), origin: ORIGIN, counter }))).status;
    assert.deepEqual(
      [await at(7), await at(8), await at(8), await at(7), await at(9)],
      [200, 200, 401, 401, 200],
    );
  });

  it('a passkey is not added with a wrong, used or foreign challenge, nor twice', async () => {
    const stranger = await signUp(system);
    const ask = async (of: UserClient) =>
      (await of.post<{ challenge: string }>('/api/auth/passkeys/options/')).body.challenge;
    const add = (credential: object) => person.post('/api/auth/passkeys/', { name: 'x', credential });
    const authenticator = new Authenticator();
    const wrong = [
      { challenge: await ask(stranger), origin: ORIGIN },
      { challenge: await challenge(), origin: ORIGIN },
      { challenge: await ask(person), origin: 'https://evil.example' },
      { challenge: await ask(person), origin: ORIGIN, flags: 0x01 },
    ];
    for (const one of wrong) assert.equal((await add(authenticator.create(one))).code, 'access_denied');
    const good = authenticator.create({ challenge: await ask(person), origin: ORIGIN });
    const cut = { ...good, response: { ...good.response, clientDataJSON: 'AAAA' } };
    assert.equal((await add(cut)).code, 'access_denied');
    assert.equal((await add(good)).status, 201);
    assert.equal((await add(good)).code, 'access_denied');
    const again = authenticator.create({ challenge: await ask(person), origin: ORIGIN });
    assert.equal((await add(again)).code, 'access_denied');
    assert.equal((await list()).length, 1);
  });

  it('passkeys are renamed and removed; a removed one logs in no more', async () => {
    const { authenticator, passkey } = await register();
    const path = `/api/auth/passkeys/${passkey.id}/`;
    assert.equal((await person.request('PATCH', path, { name: 'A phone' })).status, 200);
    assert.deepEqual(pluck(await list(), 'name'), ['A phone']);
    assert.equal((await person.request('DELETE', path)).status, 204);
    assert.equal((await person.request('DELETE', path)).code, 'not_found');
    const credential = authenticator.get({ challenge: await challenge(), origin: ORIGIN });
    assert.equal((await logIn(credential)).code, 'invalid_credentials');
  });

  it('a new password leaves passkeys, and revokes them with the keys; a disabled account has no log-in', async () => {
    const { authenticator } = await register();
    const use = async () =>
      (await logIn(authenticator.get({ challenge: await challenge(), origin: ORIGIN }))).status;
    const passwords = [person.password, 'two horses with 18 staples'];
    const change = (more: object) =>
      person.request('PATCH', '/api/auth/me/', {
        current_password: passwords[0],
        password: passwords[1],
        ...more,
      });
    await system.sql('update accounts set active = false where id = $1', [person.id]);
    assert.equal(await use(), 401);
    await system.sql('update accounts set active = true where id = $1', [person.id]);
    assert.equal((await change({ revoke_keys: false })).status, 200);
    assert.equal(await use(), 200);
    await system.sql('update accounts set login_generation = 0 where id = $1', [person.id]);
    passwords.reverse();
    assert.equal((await change({ revoke_keys: true })).status, 200);
    assert.equal(await use(), 401);
  });

  it('adding a passkey needs a log-in of the last ten minutes, and no key may; an account has at most 20', async () => {
    const key = await clientWithKey(person, ['read', 'write']);
    for (const path of ['/api/auth/passkeys/options/', '/api/auth/passkeys/'])
      assert.ok([403, 422].includes((await key.post(path, {})).status));
    await register();
    await system.sql(
      `update refresh_tokens set created_at = created_at - interval '601 seconds' where account_id = $1`,
      [person.id],
    );
    const { access } = (await renew(system, person.refresh)).body;
    const headers = { authorization: `Bearer ${access}` };
    const late = await anonymously(system, 'POST', '/api/auth/passkeys/options/', undefined, { headers });
    assert.equal(late.code, 'fresh_login_required');
    const body = {
      name: 'x',
      credential: new Authenticator().create({ challenge: 'x'.repeat(43), origin: ORIGIN }),
    };
    const lateToo = await anonymously(system, 'POST', '/api/auth/passkeys/', body, { headers });
    assert.equal(lateToo.code, 'fresh_login_required');
    await system.sql(
      `insert into passkeys (id, account_id, credential_id, public_key, counter, transports, name, backed_up, created_at)
       select gen_random_uuid(), account_id, g::text, public_key, 0, '{}', 'x', false, now()
         from passkeys, generate_series(1, 19) g where account_id = $1`,
      [person.id],
    );
    await assert.rejects(register(), /403 .*quota_exceeded/);
  });

  it('a network gets 100 challenges in 15 minutes, and pages of other origins none', async () => {
    const from = { 'x-forwarded-for': '203.0.113.7' };
    const answers = await Promise.all(Array.from({ length: 105 }, () => options(from)));
    assert.equal(answers.filter(({ status }) => status === 429).length, 5);
    const elsewhere = { 'sec-fetch-site': 'same-site' };
    assert.equal((await options(elsewhere)).code, 'access_denied');
    const { authenticator } = await register();
    const credential = authenticator.get({ challenge: await challenge(), origin: ORIGIN });
    assert.equal((await logIn(credential, elsewhere)).code, 'access_denied');
  });

  it('a log-in with a passkey is 503 overloaded while a hundred of the same account wait', async () => {
    const { authenticator } = await register();
    const credentials = await Promise.all(
      Array.from({ length: 110 }, async (_, n) => {
        const { body } = await options({ 'x-forwarded-for': `198.51.100.${n}` });
        return authenticator.get({ challenge: body.challenge, origin: ORIGIN });
      }),
    );
    const locker = await system.database.pool.connect();
    try {
      await locker.query('begin');
      await locker.query('select from accounts where id = $1 for update', [person.id]);
      const answers = credentials.map((one) => logIn(one));
      const refused = await Promise.any(
        answers.map(async (one) => (await one).code === 'overloaded' || Promise.reject(new Error('let in'))),
      );
      assert.equal(refused, true);
      await locker.query('rollback');
      await Promise.all(answers);
    } finally {
      locker.release();
    }
  });
});
