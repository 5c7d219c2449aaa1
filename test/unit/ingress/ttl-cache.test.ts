import assert from 'node:assert/strict';
import { cached } from '../../../ingress/auth/credentials.ts';
import { until } from '../../support/until.ts';

/** A cache over `find`, and the keys that were looked up. */
function watched(find: (key: string) => object | undefined = () => ({})) {
  const lookUps: string[] = [];
  const cache = cached(
    async (key: string) => {
      lookUps.push(key);
      return find(key);
    },
    (key) => key,
  );
  return { ...cache, lookUps };
}

describe('cache of credentials', () => {
  for (const [what, found] of [
    ['a key', {}],
    ['a key that is unknown', undefined],
  ] as const)
    it(`the cache of credentials looks ${what} up once, and again a second later`, async () => {
      const { find, lookUps } = watched(() => found);
      assert.deepEqual([await find('a'), await find('a')], [found, found]);
      assert.equal(lookUps.length, 1);
      await until(async () => {
        await find('a');
        return lookUps.length === 2;
      }, 2000);
    });

  it('the cache of credentials remembers a key that it found for longer than that, until it is unknown', async () => {
    let valid = true;
    const { find, remembers, lookUps } = watched(() => (valid ? {} : undefined));
    assert.equal(remembers('a'), false);
    await find('a');
    valid = false;
    await until(async () => {
      assert.equal(remembers('a'), true);
      await find('a');
      return lookUps.length === 2;
    }, 2000);
    await until(() => !remembers('a'), 2000);
  });

  it('a full TTL cache evicts only the least recently used key, and unknown keys evict none', async () => {
    const { find, lookUps } = watched((key) => (key.startsWith('unknown') ? undefined : {}));
    for (let key = 0; key <= 10_000; key += 1) await find(`${key}`);
    for (let key = 0; key <= 10_000; key += 1) await find(`unknown ${key}`);
    await find('10000');
    await find('9999');
    assert.equal(lookUps.length, 2 * 10_001);
  });
});
