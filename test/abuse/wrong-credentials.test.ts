import assert from 'node:assert/strict';
import { newAppKey, newServiceKey } from '../../shared/security/keys.ts';
import { signUp } from '../support/account.ts';
import { type AppClient, call, type Reply } from '../support/client.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Wrong credentials of one network that are answered with 401 in 10 s, and those that may be looked up meanwhile. */
const LIMIT = 50;
const AT_ONCE = 10;
const WINDOW_S = 10;

describe('wrong credentials', function () {
  this.timeout(60_000);

  let system: System;
  let url: string;
  before(async () => {
    const env = { RATE_LIMIT_RPS: '1000', RATE_LIMIT_BURST: '2000', TRUST_PROXY: 'loopback' };
    system = await startSystem({ workers: 0, env });
    url = system.webs[0]?.url ?? '';
  });
  after(() => system?.stop());

  let networks = 0;
  /** The headers of a network of its own. */
  const network = () => {
    networks += 1;
    return { 'x-forwarded-for': `192.0.2.${networks}` };
  };
  type From = ReturnType<typeof network>;

  const usage = (key: string, from: From) =>
    call('GET', `${url}/v1/usage`, undefined, { headers: { ...from, authorization: `Bearer ${key}` } });
  const me = (credential: Record<string, string>, from: From) =>
    call('GET', `${url}/api/auth/me/`, undefined, { headers: { ...from, ...credential } });
  /** Sends so many wrong keys that the network's limit is reached, whenever its window began. */
  const flood = (from: From) => inBatches(4 * LIMIT, () => usage(newAppKey().key, from));

  it('wrong credentials are 429 after a number per network, whatever their sort, and say when to come back', async () => {
    const from = network();
    const answers = await inBatches(6 * LIMIT, (n) => {
      if (n % 3 === 0) return usage(newAppKey().key, from);
      if (n % 3 === 1) return me({ 'x-service-api-key': newServiceKey().key }, from);
      return me({ authorization: `Bearer ${forged(n)}` }, from);
    });
    const wrong = answers.filter(({ status }) => status === 401);
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(wrong.length + refused.length, answers.length);
    // Two windows at most are touched.
    assert.ok(wrong.length >= LIMIT && wrong.length <= 2 * (LIMIT + AT_ONCE), `${wrong.length}`);
    for (const { code, headers } of refused) {
      assert.equal(code, 'rate_limited');
      const retryAfterS = Number(headers.get('retry-after'));
      assert.ok(retryAfterS >= 1 && retryAfterS <= WINDOW_S, `${retryAfterS}`);
    }
  });

  it('wrong credentials keep out no credential of the same network that was right before', async () => {
    const from = network();
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

  it('wrong credentials keep out no right credential of the same network that was never seen, while they go on', async () => {
    const from = network();
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

  it('wrong credentials alone count: an office of right credentials that nobody has seen is let in at once', async () => {
    const from = network();
    const apps: AppClient[] = [];
    for (let n = 0; n < 2 * LIMIT; n += 1) apps.push(await system.app());
    const answers = await Promise.all(apps.map(({ key }) => usage(key, from)));
    assert.ok(answers.every(({ status }) => status === 200));
    const missing = await inBatches(2 * LIMIT, () =>
      call('GET', `${url}/v1/usage`, undefined, { headers: from }),
    );
    assert.ok(missing.every(({ status }) => status === 401));
  });

  it('revoked credentials are refused like wrong ones within two seconds', async () => {
    const from = network();
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

  it('wrong credentials are not counted where RATE_LIMIT_RPS is 0', async () => {
    const free = await system.startWeb({ RATE_LIMIT_RPS: '0' });
    const answers = await inBatches(2 * LIMIT, () =>
      call('GET', `${free.url}/v1/usage`, undefined, {
        headers: { authorization: `Bearer ${newAppKey().key}` },
      }),
    );
    assert.ok(answers.every(({ status }) => status === 401));
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

/** A token that somebody else has signed. */
function forged(n: number): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: `${n}` })}.${'A'.repeat(43)}`;
}
