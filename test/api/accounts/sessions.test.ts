import assert from 'node:assert/strict';
import type { LoginResponse } from '../../../shared/schemas/accounts.ts';
import { anonymously, signUp, someEmail, type UserClient } from '../../support/account.ts';
import { useProcesses } from '../../support/system.ts';
import { until } from '../../support/until.ts';

describe('logging in and out', () => {
  const system = useProcesses({ workers: 0 });

  const login = (body: object) => anonymously<LoginResponse>(system, 'POST', '/api/auth/login/', body);
  const renew = (refresh: string) =>
    anonymously<{ access: string }>(system, 'POST', '/api/auth/token/refresh/', { refresh });
  const me = (access: string) =>
    anonymously(system, 'GET', '/api/auth/me/', undefined, {
      headers: { authorization: `Bearer ${access}` },
    });

  it('a log-in ignores the Unicode form of e-mail address and password, and the letter case of the address', async () => {
    const person = await signUp(system, {
      email: 'se\u00f1or@example.com',
      password: 'Se\u00f1or, 10 mice!',
    });
    const ways = [
      { email: ' SEN\u0303OR@example.com', password: person.password },
      { email: person.email, password: person.password.normalize('NFD') },
    ];
    for (const way of ways) {
      const { status, body } = await login(way);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['access', 'refresh', 'user']);
      assert.equal(body.user.id, person.id);
      assert.equal((await me(body.access)).status, 200);
    }
    assert.equal((await login({ ...ways[0], password: person.password.toLowerCase() })).status, 401);
  });

  it('a log-in with a wrong password, an unknown e-mail address or a disabled account gets the same 401 answer', async () => {
    const [person, disabled] = await Promise.all([signUp(system), signUp(system)]);
    await system.database.pool.query('update accounts set active = false where id = $1', [disabled.id]);
    const { email, password } = disabled;
    const wrong = [
      { email: person.email, password: 'some other password' },
      { email: someEmail(), password: person.password },
      { email: 'no address at all', password: '' },
      { email, password },
    ];
    const replies = await Promise.all(wrong.map(login));
    const message = 'The e-mail address or the password is wrong.';
    for (const { status, body } of replies)
      assert.deepEqual(
        { status, body },
        { status: 401, body: { detail: { code: 'invalid_credentials', message } } },
      );
  });

  it('a refresh token yields new access tokens repeatedly, until it is logged out', async () => {
    const person = await signUp(system);
    for (let i = 0; i < 2; i++) {
      const { status, body } = await renew(person.refresh);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['access']);
      assert.equal((await me(body.access)).status, 200);
    }
    for (let i = 0; i < 2; i++) {
      const { status, body } = await person.request('POST', '/api/auth/logout/', { refresh: person.refresh });
      assert.deepEqual({ status, body }, { status: 200, body: { status: 'logged_out' } });
      assert.equal((await renew(person.refresh)).code, 'not_authenticated');
    }
  });

  it('a log-out ends the log-in of its refresh token and no other log-in', async () => {
    const person = await signUp(system);
    const { body: other } = await login({ email: person.email, password: person.password });
    await person.request('POST', '/api/auth/logout/', { refresh: other.refresh });
    assert.equal((await renew(other.refresh)).status, 401);
    assert.equal((await renew(person.refresh)).status, 200);
  });

  it("a log-out with an unknown refresh token, or with another user's, ends no log-in", async () => {
    const [one, other] = await Promise.all([signUp(system), signUp(system)]);
    for (const refresh of [other.refresh, 'unknown', '']) {
      const { status, body } = await one.request('POST', '/api/auth/logout/', { refresh });
      assert.deepEqual({ status, body }, { status: 200, body: { status: 'logged_out' } });
    }
    assert.equal((await renew(other.refresh)).status, 200);
    assert.equal((await renew(one.refresh)).status, 200);
  });

  it('an access token cannot be renewed with an expired or unknown refresh token, or for a disabled account', async () => {
    const [old, disabled] = await Promise.all([signUp(system), signUp(system)]);
    const { pool } = system.database;
    const { rows } = await pool.query(
      `select extract(epoch from expires_at - created_at)::int as seconds from refresh_tokens where account_id = $1`,
      [old.id],
    );
    assert.deepEqual(rows, [{ seconds: 30 * 24 * 3600 }]);
    await pool.query(`update refresh_tokens set expires_at = now() where account_id = $1`, [old.id]);
    await pool.query(`update accounts set active = false where id = $1`, [disabled.id]);
    for (const refresh of [old.refresh, disabled.refresh, 'unknown', old.access]) {
      const { status, code } = await renew(refresh);
      assert.deepEqual({ status, code }, { status: 401, code: 'not_authenticated' });
    }
  });

  it("an account's access tokens and keys stop working within two seconds after the account is disabled", async () => {
    const person = await signUp(system);
    const keys = (headers: Record<string, string>) =>
      anonymously(system, 'GET', '/api/auth/keys/', undefined, { headers });
    const { body: key } = await person.request<{ key: string }>('POST', '/api/auth/keys/', {
      label: 'laptop',
    });
    const statuses = async () => {
      const ways: Record<string, string>[] = [
        { authorization: `Bearer ${person.access}` },
        { 'x-service-api-key': key.key },
      ];
      return (await Promise.all(ways.map(keys))).map(({ status }) => status).join();
    };
    assert.equal(await statuses(), '200,200');
    await system.database.pool.query(`update accounts set active = false where id = $1`, [person.id]);
    await until(async () => (await statuses()) === '401,401', 2000);
  });

  describe('password guessing', () => {
    const guess = (email: string) => login({ email, password: 'a wrong guess 123' });

    /** Guesses until the service answers 429. Returns the number of guesses before. */
    const guessesOf = async (email: string) => {
      for (let guesses = 0; ; guesses += 1) {
        const { status, code, headers } = await guess(email);
        if (status === 401) continue;
        assert.deepEqual({ status, code }, { status: 429, code: 'rate_limited' });
        const seconds = Number(headers.get('retry-after'));
        assert.ok(seconds >= 1 && seconds <= 900, `${seconds}`);
        return guesses;
      }
    };

    it('log-ins with an e-mail address are 429 after ten wrong passwords, whether or not an account has the address', async () => {
      const person = await signUp(system);
      assert.equal(await guessesOf(person.email), 10);
      assert.equal(await guessesOf(someEmail()), 10);
      const right = { email: person.email.toUpperCase(), password: person.password };
      assert.equal((await login(right)).code, 'rate_limited');
    });

    it('the limit of ten wrong passwords for an e-mail address also holds for concurrent log-ins', async () => {
      const { email } = await signUp(system);
      const replies = await Promise.all(Array.from({ length: 16 }, () => guess(email)));
      assert.equal(replies.filter(({ status }) => status === 401).length, 10);
    });

    it('the wrong-password limit does not count correct passwords', async () => {
      const person: UserClient = await signUp(system);
      const { email, password } = person;
      for (let i = 0; i < 12; i++) assert.equal((await login({ email, password })).status, 200);
    });
  });
});
