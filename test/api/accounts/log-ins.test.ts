import assert from 'node:assert/strict';
import { findAccount } from '../../../shared/db/stores/accounts.ts';
import { issueToken } from '../../../shared/db/stores/log-ins.ts';
import {
  anonymously,
  issueKey,
  logIn as login,
  renew as renewAt,
  signUp,
  someEmail,
  UserClient,
} from '../../support/account.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

const NEW_PASSWORD = 'two horses with 18 staples';
const REFUSED_WITHIN_MS = 2000;

describe('log-ins of an account', () => {
  const env = { JWT_SECRET: 'the-secret-of-both-has-32-bytes-or-more', PUBLIC_URL: 'http://localhost:8080' };
  const system = useSystem({ webs: 2, workers: 0, env });
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system, { name: 'Ada' });
  });

  const logIn = (body: Parameters<typeof login>[1]) => login(system, body);
  const renew = (refresh: string) => renewAt(system, refresh);
  const change = (body: object, of = person) => of.request<object>('PATCH', '/api/auth/me/', body);
  const changePassword = (more: object = {}) =>
    change({ password: NEW_PASSWORD, current_password: person.password, ...more });
  const logInAgain = async (password: string) => {
    const { body, text } = await logIn({ email: person.email, password });
    assert.ok(body.access, text);
    return new UserClient({ ...person, password, access: body.access, refresh: body.refresh }, system);
  };

  /** Returns what each ingress answers to a credential: its error code, or else its status. */
  const answersTo = async (headers: Record<string, string>) => {
    const answers = system.webs.map(async (at) => {
      const answer = await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers, at });
      return answer.code ?? answer.status;
    });
    return (await Promise.all(answers)).join();
  };
  const bearer = (access: string) => ({ authorization: `Bearer ${access}` });
  const assertAccepted = async (access: string) => assert.equal(await answersTo(bearer(access)), '200,200');
  const untilExpired = (access: string) =>
    until(async () => (await answersTo(bearer(access))) === 'token_expired,token_expired', REFUSED_WITHIN_MS);

  describe('logging in and out', () => {
    it('a log-in ignores the Unicode form of e-mail address and password, and the letter case of the address', async () => {
      const { id, password, email } = await signUp(system, {
        email: 'se\u00f1or@example.com',
        password: 'Se\u00f1or, 10 mice!',
      });
      const ways = [
        { email: ' SEN\u0303OR@example.com', password },
        { email, password: password.normalize('NFD') },
      ];
      for (const way of ways) {
        const { status, body } = await logIn(way);
        assert.deepEqual([status, Object.keys(body)], [200, ['access', 'refresh', 'user']]);
        assert.equal(body.user.id, id);
        await assertAccepted(body.access);
      }
      assert.equal((await logIn({ ...ways[0], password: password.toLowerCase() })).status, 401);
    });

    it('a log-in with a wrong password, an unknown e-mail address or a disabled account gets the same 401 answer', async () => {
      const { email, password } = await signUp(system);
      await system.sql('update accounts set active = false where email = $1', [email]);
      const wrong = [
        { email: person.email, password: 'some other password' },
        { email: someEmail(), password: person.password },
        { email: 'no address at all', password: '' },
        { email, password },
      ];
      const detail = { code: 'invalid_credentials', message: 'The e-mail address or the password is wrong.' };
      for (const { status, body } of await Promise.all(wrong.map(logIn)))
        assert.deepEqual({ status, body }, { status: 401, body: { detail } });
    });

    it('a refresh token yields new access tokens repeatedly, until it is logged out', async () => {
      const { refresh } = person;
      for (let i = 0; i < 2; i++) {
        const { status, body } = await renew(refresh);
        assert.deepEqual([status, Object.keys(body)], [200, ['access']]);
        await assertAccepted(body.access);
      }
      for (let i = 0; i < 2; i++) {
        const { status, body } = await person.post('/api/auth/logout/', { refresh });
        assert.deepEqual({ status, body }, { status: 200, body: { status: 'logged_out' } });
        assert.equal((await renew(refresh)).code, 'not_authenticated');
      }
    });

    it("a log-out ends the log-in of its own refresh token, and no log-in with an unknown or another user's", async () => {
      const [again, other] = [await logInAgain(person.password), await signUp(system)];
      for (const refresh of [again.refresh, other.refresh, 'unknown', '']) {
        const { status, body } = await person.post('/api/auth/logout/', { refresh });
        assert.deepEqual({ status, body }, { status: 200, body: { status: 'logged_out' } });
      }
      const renewals = await Promise.all([again, person, other].map(({ refresh }) => renew(refresh)));
      assert.deepEqual(pluck(renewals, 'status'), [401, 200, 200]);
    });

    it('an access token cannot be renewed with an expired or unknown refresh token, or for a disabled account', async () => {
      const disabled = await signUp(system);
      const lifetime = await system.sql(
        `select extract(epoch from expires_at - created_at)::int as seconds from refresh_tokens where account_id = $1`,
        [person.id],
      );
      assert.deepEqual(lifetime, [{ seconds: 30 * 24 * 3600 }]);
      await system.sql(`update refresh_tokens set expires_at = now() where account_id = $1`, [person.id]);
      await system.sql(`update accounts set active = false where id = $1`, [disabled.id]);
      for (const refresh of [person.refresh, disabled.refresh, 'unknown', person.access]) {
        const { status, code, text } = await renew(refresh);
        assert.deepEqual({ status, code }, { status: 401, code: 'not_authenticated' });
        assert.match(text, /"The refresh token is unknown or has ended/);
      }
    });

    it('a key cannot end all log-ins of its account', async () => {
      const headers = { 'x-service-api-key': await issueKey(person) };
      const refused = await anonymously(system, 'POST', '/api/auth/logout/', { all: true }, { headers });
      assert.deepEqual([refused.status, refused.code], [403, 'access_denied']);
      assert.equal((await renew(person.refresh)).status, 200);
    });

    it('a log-out with neither `refresh` nor `all` is 422', async () => {
      for (const body of [{}, { all: false }]) {
        const { status, text } = await person.post('/api/auth/logout/', body);
        const [fault] = JSON.parse(text).detail;
        assert.deepEqual([status, fault.loc, fault.type], [422, ['body', 'refresh'], 'missing']);
      }
      const { refresh } = person;
      assert.equal((await person.post('/api/auth/logout/', { refresh, all: false })).status, 200);
      assert.equal((await renew(refresh)).status, 401);
      await assertAccepted(person.access);
    });
  });

  describe('password guessing', () => {
    const guess = (email: string) => logIn({ email, password: 'a wrong guess 123' });

    it('log-ins with an e-mail address are 429 after ten wrong passwords, whether or not an account has the address', async () => {
      for (const email of [person.email, someEmail()]) {
        for (let n = 0; n < 10; n += 1) assert.equal((await guess(email)).status, 401);
        const { status, code, headers } = await guess(email);
        assert.deepEqual({ status, code }, { status: 429, code: 'rate_limited' });
        const seconds = Number(headers.get('retry-after'));
        assert.ok(seconds >= 1 && seconds <= 900, `${seconds}`);
      }
      const right = { email: person.email.toUpperCase(), password: person.password };
      assert.equal((await logIn(right)).code, 'rate_limited');
    });

    it('the limit of ten wrong passwords for an e-mail address also holds for concurrent log-ins', async () => {
      const replies = await Promise.all(Array.from({ length: 16 }, () => guess(person.email)));
      assert.equal(replies.filter(({ status }) => status === 401).length, 10);
    });

    it('the wrong-password limit does not count correct passwords', async () => {
      const { email, password } = person;
      for (let i = 0; i < 12; i++) assert.equal((await logIn({ email, password })).status, 200);
    });

    it('password changes with a wrong current password are 429 after ten wrong guesses', async () => {
      const wrong = { current_password: 'a wrong guess 123' };
      for (let i = 0; i < 10; i++) assert.equal((await changePassword(wrong)).status, 403);
      assert.equal((await changePassword(wrong)).code, 'rate_limited');
    });
  });

  const logOutEverywhere = () => person.post('/api/auth/logout/', { all: true });
  const ENDINGS = [
    { what: 'a password change', end: () => changePassword(), left: NEW_PASSWORD },
    { what: 'logging out everywhere', end: logOutEverywhere, left: undefined },
  ];
  for (const { what, end, left } of ENDINGS)
    describe(`after ${what}`, () => {
      it(`${what} ends the account's tokens at every ingress within two seconds, and its browser sessions, but no key`, async () => {
        const { access: renewed } = (await renew(person.refresh)).body;
        const [again, other] = [await logInAgain(person.password), await signUp(system)];
        const key = await issueKey(person);
        const account = await findAccount(system.em(), person.id);
        assert.ok(account && (await issueToken(system.em(), 'web_sessions', account)));
        const before = [person.access, renewed, again.access];
        for (const access of before) await assertAccepted(access);
        assert.equal((await end()).status, 200);
        for (const access of before) await untilExpired(access);
        for (const { refresh } of [person, again])
          assert.equal((await renew(refresh)).code, 'not_authenticated');
        const sessions = 'select from web_sessions where account_id = $1';
        assert.deepEqual(await system.sql(sessions, [person.id]), []);
        assert.equal(await answersTo({ 'x-service-api-key': key }), '200,200');
        await assertAccepted(other.access);
        assert.equal((await renew(other.refresh)).status, 200);
      });

      it(`after ${what}, an earlier access token neither issues a key nor erases the account, even where it is cached`, async () => {
        const at = system.webs[1] ?? assert.fail();
        await assertAccepted(person.access);
        assert.equal((await end()).status, 200);
        const issued = await person.post('/api/auth/keys/', { label: 'k' }, { at });
        const erased = await person.request('DELETE', '/api/auth/me/', undefined, { at });
        assert.deepEqual([issued.code, erased.code], ['token_expired', 'token_expired']);
        assert.ok(await findAccount(system.em(), person.id));
      });

      it(`after ${what}, a new log-in works at once, even at an ingress that has earlier log-ins cached`, async () => {
        await assertAccepted(person.access);
        assert.equal((await end()).status, 200);
        const again = await logInAgain(left ?? person.password);
        await assertAccepted(again.access);
        await assertAccepted((await renew(again.refresh)).body.access);
        await untilExpired(person.access);
        await assertAccepted(again.access);
      });
    });

  describe('own account', () => {
    it("GET /api/auth/me/ returns the caller's account, with or without the trailing slash", async () => {
      const [slash, none] = await Promise.all([
        person.get<{ created_at: string }>('/api/auth/me/'),
        person.get('/api/auth/me'),
      ]);
      const { created_at } = slash.body;
      assert.deepEqual(slash.body, { id: person.id, email: person.email, name: 'Ada', created_at });
      assert.equal(none.text, slash.text);
    });

    it('an account can change its name; an empty PATCH changes nothing', async () => {
      const renamed = await change({ name: 'Augusta Ada' });
      assert.deepEqual([renamed.status, renamed.body], [200, { ...renamed.body, name: 'Augusta Ada' }]);
      assert.deepEqual((await change({})).body, renamed.body);
      assert.deepEqual((await change({ name: '' })).body, { ...renamed.body, name: '' });
      assert.equal((await renew(person.refresh)).status, 200);
      for (const body of [{ email: 'new@example.com' }, { name: 'x'.repeat(201) }, { name: null }])
        assert.equal((await change(body)).status, 422);
    });

    it("changing an account's password revokes its keys only with `revoke_keys`", async () => {
      const headers = { 'x-service-api-key': await issueKey(person) };
      const use = () => answersTo(headers);
      assert.deepEqual([(await changePassword()).status, await use()], [200, '200,200']);
      assert.equal((await logIn({ email: person.email, password: person.password })).status, 401);
      const again = await logInAgain(NEW_PASSWORD);
      const anew = { password: `${NEW_PASSWORD} and more`, revoke_keys: true };
      const wrong = await change({ ...anew, current_password: person.password }, again);
      assert.deepEqual([wrong.status, await use()], [403, '200,200']);
      // `revoke_keys` without a new password is refused, since it would revoke nothing.
      const alone = await change({ name: 'Ada', revoke_keys: true }, again);
      assert.deepEqual([alone.status, JSON.parse(alone.text).detail[0].loc], [422, ['body', 'revoke_keys']]);
      assert.equal((await change({ ...anew, current_password: NEW_PASSWORD }, again)).status, 200);
      await until(async () => (await use()) === 'not_authenticated,not_authenticated', REFUSED_WITHIN_MS);
    });

    it('a PATCH of password and name with a wrong or missing current password is 403 and changes neither', async () => {
      for (const current_password of [undefined, 'not the current one', '']) {
        const { status, code, text } = await changePassword({ name: 'Eve', current_password });
        assert.deepEqual({ status, code }, { status: 403, code: 'access_denied' });
        assert.match(text, /"The current password is missing or wrong/);
      }
      const { status, body } = await logIn({ email: person.email, password: person.password });
      assert.deepEqual([status, body.user.name], [200, 'Ada']);
      assert.equal((await renew(person.refresh)).status, 200);
    });

    it('a change to a short or easily guessed password is 422, the answer does not repeat the password, and the old one stays valid', async () => {
      for (const password of ['password123', 'hunter2', person.email]) {
        const { status, text } = await changePassword({ password });
        assert.equal(status, 422);
        assert.ok(!text.includes('input') && !text.includes(password), text);
      }
      assert.equal((await logIn({ email: person.email, password: person.password })).status, 200);
    });

    it('only one of several concurrent password changes succeeds, and ends every log-in with the old password', async () => {
      const { email } = person;
      const passwords = Array.from({ length: 4 }, (_, i) => `${NEW_PASSWORD} ${i}`);
      const [changes, logins] = await Promise.all([
        Promise.all(passwords.map((password) => changePassword({ password }))),
        Promise.all(passwords.map(() => logIn({ email, password: person.password }))),
      ]);
      assert.deepEqual(changes.map(({ status }) => status).sort(), [200, 403, 403, 403]);
      const password = passwords[changes.findIndex(({ status }) => status === 200)];
      assert.equal((await logIn({ email, password })).status, 200);
      for (const { body } of logins.filter(({ status }) => status === 200))
        assert.equal((await renew(body.refresh)).status, 401);
    });
  });
});
