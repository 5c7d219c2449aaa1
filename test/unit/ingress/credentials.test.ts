import assert from 'node:assert/strict';
import { AccessTokens } from '../../../ingress/auth/access-tokens.ts';
import { createCredentials } from '../../../ingress/auth/credentials.ts';
import { CredentialThrottle } from '../../../ingress/limits/credential-throttle.ts';
import { LeaseLimiter } from '../../../ingress/limits/lease-limiter.ts';
import { MemoryCounts } from '../../../ingress/limits/open-limits.ts';
import { batcher } from '../../../shared/db/batcher.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { newAppKey, newServiceKey } from '../../../shared/security/keys.ts';

/** Wrong credentials of one network in 10 s, those that are looked up at once, and how many share a statement. */
const LIMIT = 50;
const AT_ONCE = 10;
const BATCH = { most: 200 };
const CALLS = 1500;
/** Beyond the limit: a round for each sort of key. */
const IN_ROUNDS = 2 * Math.ceil(CALLS / BATCH.most);

/** The credentials of an installation that has one app, and the statements that they cost. */
function watched() {
  const app = newAppKey();
  const memory = new MemoryCounts();
  const lookUps: string[] = [];
  const find = (name: string) =>
    batcher(async (hashes: Buffer[]) => {
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
  it('the look-ups of wrong credentials are bounded for a network, and none of it keeps a key out that was right before', async () => {
    const { app, lookUps, withKey } = watched();
    assert.equal(await withKey(app.key, '192.0.2.1'), undefined);
    const codes = await Promise.all(
      Array.from({ length: CALLS }, () => withKey(newAppKey().key, '192.0.2.1')),
    );
    assert.ok(lookUps.length <= 1 + LIMIT + AT_ONCE + IN_ROUNDS, `${lookUps.length}`);
    assert.equal(codes.filter((code) => code === 'invalid_app_key').length, LIMIT);
    assert.equal(codes.filter((code) => code === 'rate_limited').length, CALLS - LIMIT);
    assert.equal(await withKey(app.key, '192.0.2.1'), undefined);
    assert.equal(await withKey(newAppKey().key, '192.0.2.2'), 'invalid_app_key');
  });

  it('the look-ups of wrong credentials are bounded for app keys and service keys together, and for an IPv6 network', async () => {
    const { lookUps, withKey, withServiceKey } = watched();
    await Promise.all(
      Array.from({ length: CALLS }, (_, n) =>
        n % 2 === 0
          ? withKey(newAppKey().key, `2001:db8::${n.toString(16)}`)
          : withServiceKey(newServiceKey().key, `2001:db8::${n.toString(16)}`),
      ),
    );
    assert.ok(lookUps.length <= LIMIT + AT_ONCE + IN_ROUNDS, `${lookUps.length}`);
  });

  it('the look-ups of wrong credentials cost one for a wrong key that is repeated', async () => {
    const { lookUps, withKey } = watched();
    const { key } = newAppKey();
    for (let n = 0; n < LIMIT; n += 1) assert.equal(await withKey(key, '192.0.2.1'), 'invalid_app_key');
    assert.equal(await withKey(key, '192.0.2.1'), 'rate_limited');
    assert.equal(lookUps.length, 1);
  });
});

/** The code of the error; undefined when there is none. */
async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
