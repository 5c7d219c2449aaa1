import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { hashKey, looksLikeAppKey, newAppKey } from '../../../shared/security/keys.ts';

describe('app keys', () => {
  it('app keys consist of fc_, 32 random bytes as 43 base64url characters, and a checksum of 6 characters', () => {
    const { key } = newAppKey();
    assert.match(key, /^fc_[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/);
    assert.equal(Buffer.from(key.slice(3, 46), 'base64url').length, 32);
  });

  it('the hash of an app key is its SHA-256', () => {
    const { key, hash } = newAppKey();
    assert.deepEqual(hash, createHash('sha256').update(key).digest());
    assert.deepEqual(hashKey(key), hash);
  });

  it('looksLikeAppKey accepts a thousand new app keys', () => {
    for (let i = 0; i < 1000; i++) assert.equal(looksLikeAppKey(newAppKey().key), true);
  });

  it('looksLikeAppKey accepts an app key that an earlier version made', () => {
    assert.equal(looksLikeAppKey(`fc_${'A'.repeat(43)}1Rl634`), true);
  });

  it('looksLikeAppKey refuses an app key with one character changed', () => {
    const { key } = newAppKey();
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'];
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...alphabet), (at, character) => {
        fc.pre(key[at] !== character);
        assert.equal(looksLikeAppKey(key.slice(0, at) + character + key.slice(at + 1)), false);
      }),
      { numRuns: 2000 },
    );
  });

  it('looksLikeAppKey refuses a key that is cut short, extended, of another scheme or empty', () => {
    const { key } = newAppKey();
    const others = [
      key.slice(0, -1),
      `${key}A`,
      ` ${key}`,
      `${key}\n`,
      key.replace('fc_', 'service_'),
      '',
      'fc_',
    ];
    for (const other of others) assert.equal(looksLikeAppKey(other), false, JSON.stringify(other));
  });
});
