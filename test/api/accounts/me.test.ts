import assert from 'node:assert/strict';
import type { LoginResponse } from '../../../shared/schemas/accounts.ts';
import { anonymously, signUp, UserClient } from '../../support/account.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

const NEW_PASSWORD = 'two horses with 18 staples';

describe('own account', () => {
  const system = useSystem({ workers: 0 });

  const change = (person: UserClient, body: object) => person.request<object>('PATCH', '/api/auth/me/', body);
  const login = (email: string, password: string) =>
    anonymously<LoginResponse>(system, 'POST', '/api/auth/login/', { email, password });
  const renew = async (refresh: string) =>
    (await anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh })).status;

  it("GET /api/auth/me/ returns the caller's account, with or without the trailing slash", async () => {
    const person = await signUp(system, { name: 'Ada' });
    const [slash, none, head] = await Promise.all([
      person.request<{ created_at: string }>('GET', '/api/auth/me/'),
      person.request('GET', '/api/auth/me'),
      person.request('HEAD', '/api/auth/me/'),
    ]);
    const { created_at } = slash.body;
    assert.deepEqual(slash.body, { id: person.id, email: person.email, name: 'Ada', created_at });
    assert.equal(none.text, slash.text);
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal((await person.request('PUT', '/api/auth/me/')).status, 405);
  });

  it('an account can change its name; an empty PATCH changes nothing', async () => {
    const person = await signUp(system, { name: 'Ada' });
    const renamed = await change(person, { name: 'Augusta Ada' });
    assert.equal(renamed.status, 200);
    assert.deepEqual(renamed.body, { ...renamed.body, name: 'Augusta Ada' });
    assert.deepEqual((await change(person, {})).body, renamed.body);
    assert.deepEqual((await change(person, { name: '' })).body, { ...renamed.body, name: '' });
    assert.equal(await renew(person.refresh), 200);
    for (const body of [{ email: 'new@example.com' }, { name: 'x'.repeat(201) }, { name: null }])
      assert.equal((await change(person, body)).status, 422);
  });

  it('after a change of password, only the new password logs in', async () => {
    const person = await signUp(system);
    const { email, password } = person;
    const { status } = await change(person, {
      password: NEW_PASSWORD,
      current_password: password,
      name: 'New',
    });
    assert.equal(status, 200);
    assert.equal((await login(email, password)).status, 401);
    const { status: again, body } = await login(email, NEW_PASSWORD);
    assert.deepEqual([again, body.user.name], [200, 'New']);
  });

  it("changing an account's password revokes its keys only with `revoke_keys`", async () => {
    const person = await signUp(system);
    const { body } = await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'k' });
    const headers = { 'x-service-api-key': body.key };
    const use = async () =>
      (await anonymously(system, 'GET', '/api/auth/keys/', undefined, { headers })).status;
    const another = `${NEW_PASSWORD} and more`;
    const kept = await change(person, { password: NEW_PASSWORD, current_password: person.password });
    assert.deepEqual([kept.status, await use()], [200, 200]);
    const wrong = { password: another, current_password: person.password, revoke_keys: true };
    assert.deepEqual([(await change(person, wrong)).status, await use()], [403, 200]);
    // `revoke_keys` without a new password is refused, since it would revoke nothing.
    const alone = await change(person, { name: 'Ada', revoke_keys: true });
    assert.equal(alone.status, 422);
    assert.deepEqual(JSON.parse(alone.text).detail[0].loc, ['body', 'revoke_keys']);
    const { access } = (await login(person.email, NEW_PASSWORD)).body;
    const again = new UserClient({ ...person, access }, system);
    const ended = await change(again, { ...wrong, current_password: NEW_PASSWORD });
    assert.equal(ended.status, 200);
    await until(async () => (await use()) === 401, 2000);
    const { rows } = await system.database.pool.query(`select from service_keys where account_id = $1`, [
      person.id,
    ]);
    assert.equal(rows.length, 0);
  });

  it('a PATCH of password and name with a wrong or missing current password is 403 and changes neither', async () => {
    const person = await signUp(system, { name: 'Ada' });
    for (const part of [{}, { current_password: 'not the current one' }, { current_password: '' }]) {
      const { status, code } = await change(person, { password: NEW_PASSWORD, name: 'Eve', ...part });
      assert.deepEqual({ status, code }, { status: 403, code: 'access_denied' });
    }
    const { status, body } = await login(person.email, person.password);
    assert.deepEqual([status, body.user.name], [200, 'Ada']);
    assert.equal(await renew(person.refresh), 200);
  });

  it('a change to a short or easily guessed password is 422, the answer does not repeat the password, and the old one stays valid', async () => {
    const person = await signUp(system);
    for (const password of ['password123', 'hunter2', person.email]) {
      const { status, text } = await change(person, { password, current_password: person.password });
      assert.equal(status, 422);
      assert.ok(!text.includes('input') && !text.includes(password), text);
    }
    assert.equal((await login(person.email, person.password)).status, 200);
  });

  it('password changes with a wrong current password are 429 after ten wrong guesses', async () => {
    const person = await signUp(system);
    const guess = () => change(person, { password: NEW_PASSWORD, current_password: 'a wrong guess 123' });
    for (let i = 0; i < 10; i++) assert.equal((await guess()).status, 403);
    assert.equal((await guess()).code, 'rate_limited');
  });

  it('only one of several concurrent password changes succeeds, and ends every log-in with the old password', async () => {
    const person = await signUp(system);
    const passwords = Array.from({ length: 4 }, (_, i) => `${NEW_PASSWORD} ${i}`);
    const [changes, logins] = await Promise.all([
      Promise.all(
        passwords.map((password) => change(person, { password, current_password: person.password })),
      ),
      Promise.all(passwords.map(() => login(person.email, person.password))),
    ]);
    assert.deepEqual(changes.map(({ status }) => status).sort(), [200, 403, 403, 403]);
    const place = changes.findIndex(({ status }) => status === 200);
    assert.equal((await login(person.email, passwords[place] ?? '')).status, 200);
    for (const { body } of logins.filter(({ status }) => status === 200))
      assert.equal(await renew(body.refresh), 401);
  });
});
