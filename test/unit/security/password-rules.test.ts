import assert from 'node:assert/strict';
import { weaknessOf } from '../../../shared/security/password-rules.ts';

const EMAIL = 'Ada.Lovelace@example.com';

describe('new password', () => {
  const isWeak = (password: string) => weaknessOf(password, EMAIL) !== undefined;

  it('a new password is refused if it is a common password in any case or width, with or without white space around it', () => {
    for (const password of ['password123', 'PASSWORD123', ' Password123 ', '\uff50assword123', 'qwertyuiop'])
      assert.ok(isWeak(password), password);
  });

  it('a new password is refused if it is one character repeated, or a sequence up or down', () => {
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

  it('a new password is refused if it is the e-mail address', () => {
    assert.ok(isWeak(EMAIL) && isWeak(` ${EMAIL.toLowerCase()}`));
  });

  it('a new password is accepted if it is not easy to guess', () => {
    for (const password of ['a horse with 9 staples', 'abcdefghij2', 'aaaaaaaaab', 'acegikmoqs', `x${EMAIL}`])
      assert.ok(!isWeak(password), password);
  });
});
