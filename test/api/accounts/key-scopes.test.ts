import assert from 'node:assert/strict';
import { scopesOf } from '../../../ingress/http/endpoint.ts';
import { exampleOf } from '../../../ingress/openapi/examples.ts';
import { endpoints } from '../../../ingress/routes/index.ts';
import { newId } from '../../../shared/ids.ts';
import {
  type KeyResponse,
  type NewKeyResponse,
  SCOPES,
  type Scope,
} from '../../../shared/schemas/accounts.ts';
import { anonymously, signUp, type UserClient } from '../../support/account.ts';
import { fetchPublished } from '../../support/client.ts';
import { useSystem } from '../../support/system.ts';

const keyed = endpoints.filter(
  ({ credential, freshLogin, path }) => credential === 'user' && !freshLogin && path.startsWith('/api/'),
);

describe('key scopes', () => {
  const system = useSystem({ workers: 0, env: { RATE_LIMIT_RPS: '0', REPLY_TIMEOUT_MS: '1000' } });
  let person: UserClient;

  before(async () => {
    person = await signUp(system);
  });

  const issue = async (scopes?: readonly Scope[]) => {
    const { status, body, text } = await person.request<NewKeyResponse>('POST', '/api/auth/keys/', {
      label: 'scoped',
      ...(scopes && { scopes }),
    });
    assert.equal(status, 201, text);
    return body;
  };
  const use = (key: string, method: string, path: string, body?: object) =>
    anonymously<KeyResponse>(system, method, path, body, { headers: { 'x-service-api-key': key } });

  it('a key lists each of its scopes once, in a fixed order; a key issued without scopes lists none', async () => {
    const some = await issue(['forget', 'read', 'read']);
    assert.deepEqual(some.scopes, ['read', 'forget']);
    const { body } = await person.request<KeyResponse>('GET', `/api/auth/keys/${some.id}/`);
    assert.deepEqual(body.scopes, ['read', 'forget']);
    const all = await issue();
    assert.ok(!('scopes' in all));
    const { body: shown } = await person.request<KeyResponse>('GET', `/api/auth/keys/${all.id}/`);
    assert.ok(!('scopes' in shown));
  });

  for (const scopes of [[], ['admin'], 'read', null, ['read', 1]])
    it(`a new key with the scopes ${JSON.stringify(scopes)} is 422`, async () => {
      assert.equal((await person.request('POST', '/api/auth/keys/', { label: 'a', scopes })).status, 422);
    });

  it('a key with all scopes cannot issue another key', async () => {
    const { key } = await issue(SCOPES);
    const { status, code } = await use(key, 'POST', '/api/auth/keys/', { label: 'more' });
    assert.deepEqual([status, code], [403, 'access_denied']);
  });

  /** One key per set of scopes, since an account may have only a hundred keys. */
  const keys = new Map<string, Promise<NewKeyResponse>>();
  const keyWith = async (scopes: readonly Scope[]) => {
    const issued = keys.get(scopes.join()) ?? issue(scopes);
    keys.set(scopes.join(), issued);
    return (await issued).key;
  };

  for (const endpoint of keyed) {
    const { method, path, params, body } = endpoint;
    const enough = scopesOf(endpoint);
    const send = async (scopes: readonly Scope[]) => {
      const named = path.replaceAll(/:(\w+)/g, (_, name) => (params[name] === 'uuid' ? newId() : 'nothing'));
      const headers = { 'x-service-api-key': await keyWith(scopes), 'content-type': 'application/json' };
      const sent = body && { body: JSON.stringify(exampleOf(body)) };
      const answer = await fetchPublished(person.url + named, { method, headers, ...sent });
      return { status: answer.status, text: await answer.text() };
    };

    it(`${method} ${path} is 403 for a key without the scope ${enough.join(' or ')}, and the answer names the scope`, async () => {
      const { status, text } = await send(SCOPES.filter((scope) => !enough.includes(scope)));
      assert.equal(status, 403, text);
      const { code, message } = JSON.parse(text).detail;
      assert.equal(code, 'access_denied');
      assert.ok(message.includes(`the scope ${enough.join(' or ')};`), message);
    });

    for (const scope of enough)
      it(`a key with only the scope ${scope} may call ${method} ${path}`, async () => {
        const { status, text } = await send([scope]);
        assert.ok(![401, 403, 422].includes(status), text);
      });
  }
});
