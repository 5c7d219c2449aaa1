import assert from 'node:assert/strict';
import type { KeyResponse, NewKeyResponse } from '../../../shared/schemas/accounts.ts';
import { looksLikeServiceKey } from '../../../shared/security/keys.ts';
import { anonymously, signUp, type UserClient } from '../../support/account.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

describe('account keys', () => {
  const system = useSystem({ workers: 0, webs: 2 });

  const issue = async (person: UserClient, label: string) => {
    const { status, body, text } = await person.request<NewKeyResponse>('POST', '/api/auth/keys/', { label });
    assert.equal(status, 201, text);
    return body;
  };
  const list = async (person: UserClient) =>
    (await person.request<{ results: KeyResponse[] }>('GET', '/api/auth/keys/')).body;
  const use = (key: string, at = system.webs[0]) =>
    anonymously(system, 'GET', '/api/auth/keys/', undefined, {
      headers: { 'x-service-api-key': key },
      ...(at && { at }),
    });

  it("an account's key is shown in full only when it is issued; the list shows prefixes, newest key first", async () => {
    const person = await signUp(system);
    assert.deepEqual(await list(person), { results: [] });
    const laptop = await issue(person, 'laptop');
    const { id, key, created_at, ...rest } = laptop;
    assert.deepEqual(rest, { label: 'laptop' });
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(looksLikeServiceKey(key));
    assert.equal(key.length, 'service_'.length + 43 + 6);

    const server = await issue(person, '\u{1f5a5}'.repeat(200));
    const shown = { id, label: 'laptop', prefix: key.slice(0, 14), created_at, last_used_at: null };
    const { results } = await list(person);
    assert.deepEqual([results[0]?.id, results[1]], [server.id, shown]);
    const one = await person.request('GET', `/api/auth/keys/${id}/`);
    assert.deepEqual({ status: one.status, body: one.body }, { status: 200, body: shown });
  });

  it("an account's key is stored only as a hash, and is not logged", async () => {
    const { key } = await issue(await signUp(system), 'secret');
    assert.equal((await use(key)).status, 200);
    const { rows } = await system.database.pool.query(
      `select hash = sha256($1::bytea) as is_hash from service_keys where label = 'secret'`,
      [key],
    );
    assert.deepEqual(rows, [{ is_hash: true }]);
    assert.ok(!system.webs.some(({ log }) => log.includes(key)));
  });

  it("an account's keys need a label of 1 to 200 characters", async () => {
    const person = await signUp(system);
    for (const body of [
      {},
      { label: '' },
      { label: 'x'.repeat(201) },
      { label: null },
      { label: 'a', scope: 'all' },
    ])
      assert.equal((await person.request('POST', '/api/auth/keys/', body)).status, 422);
    assert.deepEqual(await list(person), { results: [] });
  });

  it('a revoked key stops working at every ingress within two seconds, and leaves the list of keys', async () => {
    const person = await signUp(system);
    const [gone, kept] = [await issue(person, 'gone'), await issue(person, 'kept')];
    const statuses = async () =>
      (await Promise.all(system.webs.map((web) => use(gone.key, web)))).map(({ status }) => status).join();
    assert.equal(await statuses(), '200,200');
    const revoked = await person.request('DELETE', `/api/auth/keys/${gone.id}/`);
    assert.deepEqual({ status: revoked.status, text: revoked.text }, { status: 204, text: '' });
    await until(async () => (await statuses()) === '401,401', 2000);
    assert.equal((await use(kept.key)).status, 200);
    assert.deepEqual(
      (await list(person)).results.map(({ id }) => id),
      [kept.id],
    );
    assert.equal((await person.request('DELETE', `/api/auth/keys/${gone.id}/`)).status, 404);
    assert.equal((await person.request('GET', `/api/auth/keys/${gone.id}/`)).status, 404);
  });

  it('a key id that is no UUID is 404 not_found', async () => {
    const person = await signUp(system);
    for (const method of ['GET', 'DELETE']) {
      const { status, code } = await person.request(method, '/api/auth/keys/1/');
      assert.deepEqual({ status, code }, { status: 404, code: 'not_found' });
    }
  });

  it("an account's key shows when it was last used, but not every use is written to the database", async () => {
    const person = await signUp(system);
    const { id, key } = await issue(person, 'busy');
    const lastUse = async () =>
      (await person.request<KeyResponse>('GET', `/api/auth/keys/${id}/`)).body.last_used_at;
    assert.equal(await lastUse(), null);
    await use(key);
    const first = await until(lastUse);
    assert.match(first, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const writes = async () => {
      const { rows } = await system.database.pool.query(`select xmin::text from service_keys where id = $1`, [
        id,
      ]);
      return rows[0].xmin;
    };
    const before = await writes();
    for (let i = 0; i < 20; i++) await use(key);
    assert.equal(await writes(), before);
    assert.equal(await lastUse(), first);
  });
});
