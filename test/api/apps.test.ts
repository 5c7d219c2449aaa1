import assert from 'node:assert/strict';
import { createApp } from '../../shared/db/stores/apps.ts';
import { deleteOldHistory } from '../../shared/db/stores/work/forget.ts';
import type { AppDetail, AppResponse } from '../../shared/schemas/apps.ts';
import { clientWithKey, eraseAccount, signUp, type UserClient } from '../support/account.ts';
import { AppClient, predictionBody } from '../support/client.ts';
import { pluck } from '../support/pluck.ts';
import { useSystem } from '../support/system.ts';

const NATIVE_URI = 'http://127.0.0.1/callback';

describe('own apps', () => {
  const system = useSystem({ env: { SANDBOX_UNITS: '2', PUBLIC_URL: 'http://localhost:8080' } });
  const url = () => system.webs[0]?.url ?? '';
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  async function make(by: UserClient, more: object = {}) {
    const { status, body, text } = await by.post<AppResponse & { key: string }>('/api/apps/', {
      name: 'Notes',
      ...more,
    });
    assert.equal(status, 201, text);
    return {
      path: `/api/apps/${body.app_id}/`,
      app: body,
      client: new AppClient(body.app_id, body.key, url()),
    };
  }
  const change = (by: UserClient, path: string, body: object) => by.request<AppResponse>('PATCH', path, body);

  it('a person makes an app, whose key works at once and is shown once, and sees what it used and why it was refused', async () => {
    const { path, app, client } = await make(person);
    assert.deepEqual([app.plan, app.monthly_cap_cents, app.switched_off], ['sandbox', null, []]);
    for (const status of [200, 200, 402])
      assert.equal((await client.post('/v1/predictions', predictionBody())).status, status);
    await deleteOldHistory(system.database.pool);
    const shown = await (async function read(): Promise<AppDetail> {
      const { body } = await person.get<AppDetail>(path);
      return body.refused.length > 0 ? body : read();
    })();
    assert.equal(JSON.stringify(shown).includes(client.key), false);
    assert.deepEqual(pluck(shown.keys, 'prefix'), [client.key.slice(0, 9)]);
    assert.deepEqual([shown.used.prediction_units, shown.used.sandbox_remaining, shown.people], [2, 0, 0]);
    assert.deepEqual(pluck(shown.days, 'prediction_units'), [2]);
    const [refusal] = shown.refused;
    assert.deepEqual([refusal?.code, refusal?.calls], ['sandbox_exhausted', 1]);
    assert.match(refusal?.means ?? '', /used up/);
  });

  it('an owner rotates the key with grace, turns features off and on, and lowers the cap, but never raises it', async () => {
    const { path, app, client } = await make(person);
    const rotated = await person.post<{ key: string }>(`${path}keys/`, { grace_s: 3600 });
    assert.equal(rotated.status, 201);
    for (const key of [client.key, rotated.body.key])
      assert.equal((await new AppClient(app.app_id, key, url()).get('/v1/usage')).status, 200);
    assert.deepEqual((await change(person, path, { switched_off: ['connections'] })).body.switched_off, [
      'connections',
    ]);
    const cap = async (monthly_cap_cents: number) =>
      (await change(person, path, { monthly_cap_cents })).status;
    assert.deepEqual([await cap(500), await cap(100), await cap(101)], [200, 200, 422]);
    const plan = await change(person, path, { plan: 'paid' });
    assert.equal(plan.status, 422);
  });

  it("a native app's loopback redirect URIs match with any port, those of others and of other paths do not", async () => {
    const { path, client } = await make(person, { redirect_uris: [NATIVE_URI], native: true });
    const start = async (redirect_uri: string) => {
      const body = { user_id: 'u', redirect_uri, state: 's'.repeat(32), code_challenge: 'c'.repeat(43) };
      return (await client.post('/v1/connections', body)).status;
    };
    const at = (port: string, host = '127.0.0.1', end = '/callback') => `http://${host}${port}${end}`;
    assert.deepEqual([await start(at('')), await start(at(':50123'))], [200, 200]);
    for (const other of [
      at(':50123', 'localhost'),
      at(':50123', '127.0.0.1', '/other'),
      at(':50123.evil.example'),
    ])
      assert.equal(await start(other), 400, other);
    assert.equal((await change(person, path, { native: false })).status, 200);
    assert.equal(await start(at(':50123')), 400);
    const longest = 'https://app.example/'.padEnd(2048, 'x');
    assert.equal((await change(person, path, { redirect_uris: [longest] })).status, 200);
    assert.equal(await start(longest), 200);
    for (const redirect_uri of ['http://evil.example/', 'https://app.example/#x', 'javascript:alert(1)'])
      assert.equal((await change(person, path, { redirect_uris: [redirect_uri] })).status, 422);
  });

  it('an app is its owner’s alone: others get 404, and a key with scopes may only read', async () => {
    const { path } = await make(person);
    const stranger = await signUp(system);
    for (const [method, body] of [['GET'], ['PATCH', { name: 'Mine' }], ['DELETE']] as const)
      assert.equal((await stranger.request(method, path, body)).status, 404);
    assert.equal((await stranger.post(`${path}keys/`, { grace_s: 0 })).status, 404);
    const agent = await clientWithKey(person, ['read', 'write', 'forget']);
    assert.equal((await agent.get(path)).status, 200);
    assert.equal((await agent.post('/api/apps/', { name: 'x' })).status, 403);
    assert.equal((await agent.request('DELETE', path)).status, 403);
  });

  it('a deleted app, and those of an erased account, stop working within two seconds', async () => {
    const { path, client } = await make(person);
    const other = await make(person);
    assert.equal((await person.request('DELETE', path)).status, 204);
    assert.equal((await person.get(path)).status, 404);
    await eraseAccount(system, person);
    const until = Date.now() + 2000;
    for (const one of [client, other.client]) {
      let status = 0;
      while (status !== 401 && Date.now() < until) ({ status } = await one.get('/v1/usage'));
      assert.equal(status, 401);
    }
  });

  it('an account has 20 apps at most', async () => {
    for (let count = 0; count < 20; count += 1)
      await createApp(system.em(), {
        name: 'one of many',
        redirectUris: [],
        plan: 'sandbox',
        capCents: null,
        owner: person.id,
      });
    const { status, text } = await person.post('/api/apps/', { name: 'one more' });
    assert.equal(status, 403, text);
    assert.match(text, /20 of 20 apps/);
  });

  it('with APPS=invited a person makes apps once an operator has given one; with off there is no such address', async () => {
    const invited = await system.startWeb({ APPS: 'invited' });
    const post = () => person.request('POST', '/api/apps/', { name: 'x' }, { at: invited });
    assert.equal((await post()).status, 403);
    await createApp(system.em(), {
      name: 'given',
      redirectUris: [],
      plan: 'sandbox',
      capCents: null,
      owner: person.id,
    });
    assert.equal((await post()).status, 201);
    const off = await system.startWeb({ APPS: 'off' });
    const { status } = await fetch(`${off.url}/api/apps/`, {
      headers: { authorization: `Bearer ${person.access}` },
    });
    assert.equal(status, 404);
  });
});
