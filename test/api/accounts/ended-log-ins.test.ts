import assert from 'node:assert/strict';
import { findAccount } from '../../../shared/db/stores/accounts.ts';
import { startWebSession } from '../../../shared/db/stores/log-ins.ts';
import type { LoginResponse } from '../../../shared/schemas/accounts.ts';
import { anonymously, signUp, UserClient } from '../../support/account.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

const NEW_PASSWORD = 'two horses with 18 staples';
const REFUSED_WITHIN_MS = 2000;

describe('log-ins of an account', () => {
  const env = { JWT_SECRET: 'the-secret-of-both-has-32-bytes-or-more', PUBLIC_URL: 'http://localhost:8080' };
  const system = useSystem({ webs: 2, workers: 0, env });
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

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

  /** Returns what each ingress answers to a credential: its error code, or else its status. */
  const answersTo = async (headers: Record<string, string>) => {
    const answers = system.webs.map(async (at) => {
      const answer = await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers, at });
      return answer.code ?? answer.status;
    });
    return (await Promise.all(answers)).join();
  };
  const bearer = (access: string) => ({ authorization: `Bearer ${access}` });
  const expectAcceptedEverywhere = async (access: string) =>
    assert.equal(await answersTo(bearer(access)), '200,200');

  const changePassword = (more: object = {}) =>
    person.request('PATCH', '/api/auth/me/', {
      password: NEW_PASSWORD,
      current_password: person.password,
      ...more,
    });
  const logOutEverywhere = () => person.request('POST', '/api/auth/logout/', { all: true });

  const ENDINGS = [
    { what: 'a password change', end: () => changePassword(), left: NEW_PASSWORD },
    { what: 'logging out everywhere', end: logOutEverywhere, left: undefined },
  ];
  for (const { what, end, left } of ENDINGS)
    describe(`after ${what}`, () => {
      it(`within two seconds after ${what}, every ingress refuses the account's earlier tokens`, async () => {
        const { access: renewed } = (await renew(person.refresh)).body;
        const other = await logIn(person.password);
        const before = [person.access, renewed, other.access];
        for (const access of before) await expectAcceptedEverywhere(access);
        assert.equal((await end()).status, 200);
        const isExpired = async (access: string) =>
          (await answersTo(bearer(access))) === 'token_expired,token_expired';
        for (const access of before) await until(() => isExpired(access), REFUSED_WITHIN_MS);
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

      it(`after ${what}, an earlier access token cannot issue a key, even at an ingress that has it cached`, async () => {
        const [, at] = system.webs;
        await expectAcceptedEverywhere(person.access);
        assert.equal((await end()).status, 200);
        const issued = await person.request('POST', '/api/auth/keys/', { label: 'k' }, { ...(at && { at }) });
        assert.equal(issued.code, 'token_expired');
      });

      it(`after ${what}, an earlier access token cannot erase the account, even at an ingress that has it cached`, async () => {
        const [, at] = system.webs;
        await expectAcceptedEverywhere(person.access);
        assert.equal((await end()).status, 200);
        const erased = await person.request('DELETE', '/api/auth/me/', undefined, { ...(at && { at }) });
        assert.equal(erased.code, 'token_expired');
        assert.ok(await findAccount(system.em(), person.id));
      });

      it(`after ${what}, a new log-in works at once, even at an ingress that has earlier log-ins cached`, async () => {
        await expectAcceptedEverywhere(person.access);
        assert.equal((await end()).status, 200);
        const again = await logIn(left ?? person.password);
        await expectAcceptedEverywhere(again.access);
        await expectAcceptedEverywhere((await renew(again.refresh)).body.access);
        await until(
          async () => (await answersTo(bearer(person.access))) === 'token_expired,token_expired',
          REFUSED_WITHIN_MS,
        );
        await expectAcceptedEverywhere(again.access);
      });

      it(`${what} ends the account's browser sessions, but neither its keys nor other accounts' log-ins`, async () => {
        const [other, key] = [await signUp(system), await keyOf()];
        const account = await findAccount(system.em(), person.id);
        assert.ok(account && (await startWebSession(system.em(), account)));
        assert.equal((await end()).status, 200);
        const { rows } = await system.database.pool.query('select from web_sessions where account_id = $1', [
          person.id,
        ]);
        assert.equal(rows.length, 0);
        await until(
          async () => (await answersTo(bearer(person.access))) === 'token_expired,token_expired',
          REFUSED_WITHIN_MS,
        );
        assert.equal(await answersTo({ 'x-service-api-key': key }), '200,200');
        await expectAcceptedEverywhere(other.access);
        assert.equal((await renew(other.refresh)).status, 200);
      });
    });

  it('a key cannot end all log-ins of its account', async () => {
    const headers = { 'x-service-api-key': await keyOf() };
    const refused = await anonymously(system, 'POST', '/api/auth/logout/', { all: true }, { headers });
    assert.deepEqual([refused.status, refused.code], [403, 'access_denied']);
    assert.equal((await renew(person.refresh)).status, 200);
  });

  it('a log-out with neither `refresh` nor `all` is 422', async () => {
    for (const body of [{}, { all: false }]) {
      const { status, text } = await person.request('POST', '/api/auth/logout/', body);
      const [fault] = JSON.parse(text).detail;
      assert.deepEqual([status, fault.loc, fault.type], [422, ['body', 'refresh'], 'missing']);
    }
    const { refresh } = await logIn(person.password);
    assert.equal((await person.request('POST', '/api/auth/logout/', { refresh, all: false })).status, 200);
    assert.equal((await renew(refresh)).status, 401);
    await expectAcceptedEverywhere(person.access);
  });
});
