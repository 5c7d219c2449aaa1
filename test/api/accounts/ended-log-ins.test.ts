import assert from 'node:assert/strict';
import { findAccount } from '../../../shared/db/stores/accounts.ts';
import { startWebSession } from '../../../shared/db/stores/log-ins.ts';
import type { LoginResponse } from '../../../shared/schemas/accounts.ts';
import { anonymously, signUp, UserClient } from '../../support/account.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

const NEW_PASSWORD = 'two horses with 18 staples';
/** Within which every ingress refuses what has ended. */
const WITHIN_MS = 2000;

describe('log-ins of an account', () => {
  let system: System;
  let person: UserClient;

  before(async () => {
    const env = {
      JWT_SECRET: 'the-secret-of-both-has-32-bytes-or-more',
      PUBLIC_URL: 'http://localhost:8080',
    };
    system = await startSystem({ webs: 2, workers: 0, env });
  });
  beforeEach(async () => {
    person = await signUp(system);
  });
  after(() => system.stop());

  const logIn = async (password: string) => {
    const { email } = person;
    const { body, text } = await anonymously<LoginResponse>(system, 'POST', '/api/auth/login/', {
      email,
      password,
    });
    assert.ok(body.access, text);
    return new UserClient({ ...person, password, access: body.access, refresh: body.refresh }, system);
  };
  const renew = (refresh: string) =>
    anonymously<{ access: string }>(system, 'POST', '/api/auth/token/refresh/', { refresh });
  const keyOf = async () =>
    (await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'k' })).body.key;

  /** What each ingress answers to a credential. */
  const seen = async (headers: Record<string, string>) => {
    const answers = system.webs.map(async (at) => {
      const answer = await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers, at });
      return answer.code ?? answer.status;
    });
    return (await Promise.all(answers)).join();
  };
  const bearer = (access: string) => ({ authorization: `Bearer ${access}` });
  const goodEverywhere = async (access: string) => assert.equal(await seen(bearer(access)), '200,200');

  const changePassword = (more: object = {}) =>
    person.request('PATCH', '/api/auth/me/', {
      password: NEW_PASSWORD,
      current_password: person.password,
      ...more,
    });
  const logOutEverywhere = () => person.request('POST', '/api/auth/logout/', { all: true });

  const ENDINGS = [
    { what: 'a change of the password', end: () => changePassword(), left: NEW_PASSWORD },
    { what: 'logging out everywhere', end: logOutEverywhere, left: undefined },
  ];
  for (const { what, end, left } of ENDINGS)
    describe(`after ${what}`, () => {
      it(`after ${what}, the log-ins of an account are over at every ingress within two seconds: first, renewed and another one, in every use`, async () => {
        const { access: renewed } = (await renew(person.refresh)).body;
        const other = await logIn(person.password);
        const before = [person.access, renewed, other.access];
        for (const access of before) await goodEverywhere(access);
        assert.equal((await end()).status, 200);
        const expired = async (access: string) =>
          (await seen(bearer(access))) === 'token_expired,token_expired';
        for (const access of before) await until(() => expired(access), WITHIN_MS);
        for (const [method, path, body] of [
          ['POST', '/api/auth/keys/', { label: 'k' }],
          ['GET', '/api/export/', undefined],
          ['DELETE', '/api/auth/me/', undefined],
        ] as const)
          for (const at of system.webs)
            assert.equal((await person.request(method, path, body, { at })).code, 'token_expired');
        for (const { refresh } of [person, other])
          assert.equal((await renew(refresh)).code, 'not_authenticated');
      });

      it(`after ${what}, a log-in issues no key, not even through an ingress that has not learnt of it`, async () => {
        const [, at] = system.webs;
        await goodEverywhere(person.access);
        assert.equal((await end()).status, 200);
        const issued = await person.request('POST', '/api/auth/keys/', { label: 'k' }, { ...(at && { at }) });
        assert.equal(issued.code, 'token_expired');
      });

      it(`after ${what}, a log-in erases no account, not even through an ingress that has not learnt of it`, async () => {
        const [, at] = system.webs;
        await goodEverywhere(person.access);
        assert.equal((await end()).status, 200);
        const erased = await person.request('DELETE', '/api/auth/me/', undefined, { ...(at && { at }) });
        assert.equal(erased.code, 'token_expired');
        assert.ok(await findAccount(system.em(), person.id));
      });

      it(`after ${what}, a new log-in begins in the same second, at an ingress that still knows the earlier ones`, async () => {
        await goodEverywhere(person.access);
        assert.equal((await end()).status, 200);
        const again = await logIn(left ?? person.password);
        await goodEverywhere(again.access);
        await goodEverywhere((await renew(again.refresh)).body.access);
        await until(
          async () => (await seen(bearer(person.access))) === 'token_expired,token_expired',
          WITHIN_MS,
        );
        await goodEverywhere(again.access);
      });

      it(`after ${what}, the log-ins of an account are over in browsers, and nothing of another account or by a key is`, async () => {
        const [other, key] = [await signUp(system), await keyOf()];
        const account = await findAccount(system.em(), person.id);
        assert.ok(account && (await startWebSession(system.em(), account)));
        assert.equal((await end()).status, 200);
        const { rows } = await system.database.pool.query('select from web_sessions where account_id = $1', [
          person.id,
        ]);
        assert.equal(rows.length, 0);
        await until(
          async () => (await seen(bearer(person.access))) === 'token_expired,token_expired',
          WITHIN_MS,
        );
        assert.equal(await seen({ 'x-service-api-key': key }), '200,200');
        await goodEverywhere(other.access);
        assert.equal((await renew(other.refresh)).status, 200);
      });
    });

  it('the log-ins of an account cannot all be ended by a key, which could keep its owner out', async () => {
    const headers = { 'x-service-api-key': await keyOf() };
    const refused = await anonymously(system, 'POST', '/api/auth/logout/', { all: true }, { headers });
    assert.deepEqual([refused.status, refused.code], [403, 'access_denied']);
    assert.equal((await renew(person.refresh)).status, 200);
  });

  it('the log-ins of an account are ended by name or all together: a log-out that says neither is refused', async () => {
    for (const body of [{}, { all: false }]) {
      const { status, text } = await person.request('POST', '/api/auth/logout/', body);
      const [fault] = JSON.parse(text).detail;
      assert.deepEqual([status, fault.loc, fault.type], [422, ['body', 'refresh'], 'missing']);
    }
    const { refresh } = await logIn(person.password);
    assert.equal((await person.request('POST', '/api/auth/logout/', { refresh, all: false })).status, 200);
    assert.equal((await renew(refresh)).status, 401);
    await goodEverywhere(person.access);
  });
});
