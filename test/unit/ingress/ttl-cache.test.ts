import assert from 'node:assert/strict';
import { cacheLookups } from '../../../ingress/auth/credentials.ts';
import { until } from '../../support/until.ts';

/** Makes a cache over `find`, and records the keys that were looked up. */
function watchedCache(find: (key: string) => object | undefined = () => ({})) {
  const lookUps: string[] = [];
  const cache = cacheLookups(
    async (key: string) => {
      lookUps.push(key);
      return find(key);
    },
    (key) => key,
  );
  return { ...cache, lookUps };
}

describe('credential cache', () => {
  for (const [what, found] of [
    ['a valid key', {}],
    ['an unknown key', undefined],
  ] as const)
    it(`the credential cache looks up ${what} once, and again after a second`, async () => {
      const { find, lookUps } = watchedCache(() => found);
      assert.deepEqual([await find('a'), await find('a')], [found, found]);
      assert.equal(lookUps.length, 1);
      await until(async () => {
        await find('a');
        return lookUps.length === 2;
      }, 2000);
    });

  it('the credential cache remembers that a key was valid until a later look-up no longer finds the key', async () => {
    let valid = true;
    const { find, remembers, lookUps } = watchedCache(() => (valid ? {} : undefined));
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

  it('a full credential cache keeps the valid keys used last, even after 10,001 look-ups of unknown keys', async () => {
    const { find, lookUps } = watchedCache((key) => (key.startsWith('unknown') ? undefined : {}));
    for (let key = 0; key <= 10_000; key += 1) await find(`${key}`);
    for (let key = 0; key <= 10_000; key += 1) await find(`unknown ${key}`);
    await find('10000');
    await find('9999');
    assert.equal(lookUps.length, 2 * 10_001);
  });
});
