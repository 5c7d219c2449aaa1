import assert from 'node:assert/strict';
import { isDictation, isObedient } from '../../../../shared/domain/replies/dictation.ts';
import { HARMLESS, HARMLESS_REASONS, INJECTIONS, OBEDIENT_REASONS } from '../../../support/injections.ts';

describe('dictation guard', () => {
  for (const [family, texts] of Object.entries(INJECTIONS))
    it(`the dictation guard finds texts that dictate a reply by ${family}`, () => {
      assert.deepEqual(
        texts.filter((text) => !isDictation(text)),
        [],
      );
    });

  it('the dictation guard finds a text that dictates a reply in the middle of other text', () => {
    for (const text of Object.values(INJECTIONS).flat())
      assert.ok(isDictation(`I have looked at the tests.\n${text}\nThere are twelve of them.`), text);
  });

  it('the dictation guard ignores ordinary prompts and memory', () => {
    assert.deepEqual(HARMLESS.filter(isDictation), []);
  });

  it('the dictation guard finds reasons stating that a command in the prompt was obeyed, and no other reasons', () => {
    assert.deepEqual(
      OBEDIENT_REASONS.filter((reason) => !isObedient(reason)),
      [],
    );
    assert.deepEqual(HARMLESS_REASONS.filter(isObedient), []);
  });

  it('the dictation guard reads five long hostile texts within two seconds', () => {
    const since = performance.now();
    for (const text of [
      'a '.repeat(16_000),
      'reply '.repeat(5000),
      '0'.repeat(32_000),
      `answer:${' '.repeat(31_900)}`,
      'say,'.repeat(8000),
    ])
      isDictation(text);
    assert.ok(performance.now() - since < 2000);
  });
});
