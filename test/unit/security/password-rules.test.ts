import assert from 'node:assert/strict';
import { weaknessOf } from '../../../shared/security/password-rules.ts';

const EMAIL = 'Ada.Lovelace@example.com';

describe('new password', () => {
  const isWeak = (password: string) => weaknessOf(password, EMAIL) !== undefined;

  it('a common password is refused even when written in capitals or full-width letters, or with spaces around it', () => {
    for (const password of ['password123', 'PASSWORD123', ' Password123 ', '\uff50assword123', 'qwertyuiop'])
      assert.ok(isWeak(password), password);
  });

  it('a new password of one repeated character, or of a sequence up or down, is refused', () => {
    for (const password of [
      'aaaaaaaaaa',
      '\u{1f40e}'.repeat(12),
      'abcdefghijkl',
      'zyxwvutsrq',
      '23456789:;',
      '          ',
    ])
      assert.ok(isWeak(password), password);
  });

  it('a new password that is the e-mail address is refused', () => {
    assert.ok(isWeak(EMAIL) && isWeak(` ${EMAIL.toLowerCase()}`));
  });

  it('a new password that is not easy to guess is accepted', () => {
    for (const password of ['a horse with 9 staples', 'abcdefghij2', 'aaaaaaaaab', 'acegikmoqs', `x${EMAIL}`])
      assert.ok(!isWeak(password), password);
  });
});
