import assert from 'node:assert/strict';
import { AccessTokens } from '../../../ingress/auth/access-tokens.ts';
import { createCredentials } from '../../../ingress/auth/credentials.ts';
import { CredentialThrottle } from '../../../ingress/limits/credential-throttle.ts';
import { LeaseLimiter } from '../../../ingress/limits/lease-limiter.ts';
import { MemoryCounts } from '../../../ingress/limits/open-limits.ts';
import { createBatcher } from '../../../shared/db/batcher.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { newAppKey, newServiceKey } from '../../../shared/security/keys.ts';

/** Number of wrong credentials that one network may send in 10 s. */
const LIMIT = 50;
/** Number of unproven credentials of one network that are looked up at once. */
const AT_ONCE = 10;
/** Limit of the credentials that share a look-up statement. */
const BATCH = { maxItems: 200 };
const CALLS = 1500;
/** Maximum number of statements that look up all calls in full batches; each of the two kinds of key has its own. */
const BATCHED_LOOKUPS = 2 * Math.ceil(CALLS / BATCH.maxItems);

/** Makes the credentials of an installation with one app, and records the look-up statements. */
function watchedCredentials() {
  const app = newAppKey();
  const memory = new MemoryCounts();
  const lookUps: string[] = [];
  const find = (name: string) =>
    createBatcher(async (hashes: Buffer[]) => {
      lookUps.push(name);
      await new Promise(setImmediate);
      return hashes.map((hash) => (hash.equals(app.hash) ? { id: 'app' } : undefined));
    }, BATCH);
  const findKey = find('key');
  const credentials = createCredentials(
    {
      app: find('app') as Parameters<typeof createCredentials>[0]['app'],
      user: { byToken: async () => undefined, byKey: async (hash) => (await findKey(hash)) && undefined },
    },
    new AccessTokens('https://forecue.test', [
      { kid: '', secret: 'a secret of the tests, of 32 bytes or more' },
    ]),
    new CredentialThrottle({ lease: (limit) => new LeaseLimiter(limit, async (one) => memory.count(one)) }),
    () => {},
  );
  const withKey = (key: string, address: string) =>
    codeOf(credentials.app({ authorization: `Bearer ${key}` }, address));
  const withServiceKey = (key: string, address: string) =>
    codeOf(credentials.user({ 'x-service-api-key': key }, address));
  return { app, lookUps, withKey, withServiceKey };
}

describe('look-ups of wrong credentials', () => {
  it('look-ups of wrong credentials are limited per network, and a valid key that the network used before still works', async () => {
    const { app, lookUps, withKey } = watchedCredentials();
    assert.equal(await withKey(app.key, '192.0.2.1'), undefined);
    const codes = await Promise.all(
      Array.from({ length: CALLS }, () => withKey(newAppKey().key, '192.0.2.1')),
    );
    assert.ok(lookUps.length <= 1 + LIMIT + AT_ONCE + BATCHED_LOOKUPS, `${lookUps.length}`);
    assert.equal(codes.filter((code) => code === 'invalid_app_key').length, LIMIT);
    assert.equal(codes.filter((code) => code === 'rate_limited').length, CALLS - LIMIT);
    assert.equal(await withKey(app.key, '192.0.2.1'), undefined);
    assert.equal(await withKey(newAppKey().key, '192.0.2.2'), 'invalid_app_key');
  });

  it('look-ups of wrong app keys and wrong service keys share one limit, per IPv6 network rather than per address', async () => {
    const { lookUps, withKey, withServiceKey } = watchedCredentials();
    await Promise.all(
      Array.from({ length: CALLS }, (_, n) =>
        n % 2 === 0
          ? withKey(newAppKey().key, `2001:db8::${n.toString(16)}`)
          : withServiceKey(newServiceKey().key, `2001:db8::${n.toString(16)}`),
      ),
    );
    assert.ok(lookUps.length <= LIMIT + AT_ONCE + BATCHED_LOOKUPS, `${lookUps.length}`);
  });

  it('a wrong app key that is sent again and again is looked up once', async () => {
    const { lookUps, withKey } = watchedCredentials();
    const { key } = newAppKey();
    for (let n = 0; n < LIMIT; n += 1) assert.equal(await withKey(key, '192.0.2.1'), 'invalid_app_key');
    assert.equal(await withKey(key, '192.0.2.1'), 'rate_limited');
    assert.equal(lookUps.length, 1);
  });
});

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
