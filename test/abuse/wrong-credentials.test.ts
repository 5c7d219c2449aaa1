import assert from 'node:assert/strict';
import { newAppKey, newServiceKey } from '../../shared/security/keys.ts';
import { signUp } from '../support/account.ts';
import { type AppClient, call, type Reply } from '../support/client.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Wrong credentials from one network that get 401 in 10 s. */
const LIMIT = 50;
/** Credentials from one network that may be looked up at once. */
const AT_ONCE = 10;
const WINDOW_S = 10;

describe('wrong credentials', () => {
  const env = { RATE_LIMIT_RPS: '1000', RATE_LIMIT_BURST: '2000', TRUST_PROXY: 'loopback' };
  const system = useSystem({ workers: 0, env });
  let url: string;
  before(async () => {
    url = system.webs[0]?.url ?? '';
  });

  let networks = 0;
  const newNetwork = () => {
    networks += 1;
    return { 'x-forwarded-for': `192.0.2.${networks}` };
  };
  type From = ReturnType<typeof newNetwork>;

  const usage = (key: string, from: From) =>
    call('GET', `${url}/v1/usage`, undefined, { headers: { ...from, authorization: `Bearer ${key}` } });
  const me = (credential: Record<string, string>, from: From) =>
    call('GET', `${url}/api/auth/me/`, undefined, { headers: { ...from, ...credential } });
  /** Sends enough wrong keys to reach the network's limit, whenever its window began. */
  const flood = (from: From) => inBatches(4 * LIMIT, () => usage(newAppKey().key, from));

  it('wrong app keys, service keys and tokens from one network count together, and are 429 beyond a limit', async () => {
    const from = newNetwork();
    const answers = await inBatches(6 * LIMIT, (n) => {
      if (n % 3 === 0) return usage(newAppKey().key, from);
      if (n % 3 === 1) return me({ 'x-service-api-key': newServiceKey().key }, from);
      return me({ authorization: `Bearer ${forgedToken(n)}` }, from);
    });
    const wrong = answers.filter(({ status }) => status === 401);
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(wrong.length + refused.length, answers.length);
    // The calls fall into at most two windows.
    assert.ok(wrong.length >= LIMIT && wrong.length <= 2 * (LIMIT + AT_ONCE), `${wrong.length}`);
    for (const { code, headers } of refused) {
      assert.equal(code, 'rate_limited');
      const retryAfterS = Number(headers.get('retry-after'));
      assert.ok(retryAfterS >= 1 && retryAfterS <= WINDOW_S, `${retryAfterS}`);
    }
  });

  it('wrong credentials do not lock out credentials that were used before from the same network', async () => {
    const from = newNetwork();
    const app = await system.app();
    const person = await signUp(system);
    const token = { authorization: `Bearer ${person.access}` };
    const made = await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'office' });
    const serviceKey = { 'x-service-api-key': made.body.key };
    const honest = async () => [
      (await usage(app.key, from)).status,
      (await me(token, from)).status,
      (await me(serviceKey, from)).status,
    ];
    assert.deepEqual(await honest(), [200, 200, 200]);
    assert.ok((await flood(from)).some(({ status }) => status === 429));
    assert.deepEqual(await honest(), [200, 200, 200]);
  });

  it('a flood of wrong credentials does not lock out credentials used for the first time from the same network', async () => {
    const from = newNetwork();
    const person = await signUp(system);
    const made = await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'new' });
    const flooding = flood(from);
    await until(async () => (await usage(newAppKey().key, from)).status === 429);
    const flooded = Promise.all([flooding, flood(from), flood(from)]);
    for (let n = 0; n < 5; n += 1) assert.equal((await usage((await system.app()).key, from)).status, 200);
    assert.equal((await me({ 'x-service-api-key': made.body.key }, from)).status, 200);
    assert.equal((await usage(newAppKey().key, from)).status, 429);
    await flooded;
  });

  it("neither valid nor missing credentials count towards a network's limit on wrong credentials", async () => {
    const from = newNetwork();
    const apps: AppClient[] = [];
    for (let n = 0; n < 2 * LIMIT; n += 1) apps.push(await system.app());
    const answers = await Promise.all(apps.map(({ key }) => usage(key, from)));
    assert.ok(answers.every(({ status }) => status === 200));
    const missing = await inBatches(2 * LIMIT, () =>
      call('GET', `${url}/v1/usage`, undefined, { headers: from }),
    );
    assert.ok(missing.every(({ status }) => status === 401));
  });

  it('a service key that an ingress has accepted is 401 soon after it is revoked #revoked-credential', async () => {
    const from = newNetwork();
    const person = await signUp(system);
    const made = await person.request<{ id: string; key: string }>('POST', '/api/auth/keys/', {
      label: 'old',
    });
    const serviceKey = { 'x-service-api-key': made.body.key };
    assert.equal((await me(serviceKey, from)).status, 200);
    const revoked = await person.request('DELETE', `/api/auth/keys/${made.body.id}/`);
    assert.equal(revoked.status, 204);
    await until(async () => (await me(serviceKey, from)).status === 401);
  });
});

async function inBatches(count: number, one: (n: number) => Promise<Reply<unknown>>) {
  const answers: Reply<unknown>[] = [];
  while (answers.length < count) {
    const batch = Array.from({ length: 20 }, (_, n) => one(answers.length + n));
    answers.push(...(await Promise.all(batch)));
  }
  return answers;
}

function forgedToken(n: number): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: `${n}` })}.${'A'.repeat(43)}`;
}
