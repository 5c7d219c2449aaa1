import assert from 'node:assert/strict';
import { weaknessOf } from '../../../shared/security/password-rules.ts';

const EMAIL = 'Ada.Lovelace@example.com';

describe('new password', () => {
  const isWeak = (password: string) => weaknessOf(password, EMAIL) !== undefined;

  it('a new password is refused when it is a common one, in whatever case, width or white space around it', () => {
    for (const password of ['password123', 'PASSWORD123', ' Password123 ', '\uff50assword123', 'qwertyuiop'])
      assert.ok(isWeak(password), password);
  });

  it('a new password is refused when it is one character repeated or a plain sequence, up or down', () => {
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

  it('a new password is refused when it is the e-mail address', () => {
    assert.ok(isWeak(EMAIL) && isWeak(` ${EMAIL.toLowerCase()}`));
  });

  it('a new password that is not easy to guess is accepted', () => {
    for (const password of ['a horse with 9 staples', 'abcdefghij2', 'aaaaaaaaab', 'acegikmoqs', `x${EMAIL}`])
      assert.ok(!isWeak(password), password);
  });
});
