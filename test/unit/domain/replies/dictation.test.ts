import assert from 'node:assert/strict';
import { dictates, obeys } from '../../../../shared/domain/replies/dictation.ts';
import { HARMLESS, HARMLESS_REASONS, INJECTIONS, OBEDIENT_REASONS } from '../../../support/injections.ts';

describe('guard against dictated replies', () => {
  for (const [family, texts] of Object.entries(INJECTIONS))
    it(`the guard against dictated replies finds texts that try it by ${family}`, () => {
      assert.deepEqual(
        texts.filter((text) => !dictates(text)),
        [],
      );
    });

  it('the guard against dictated replies finds such texts in the middle of others', () => {
    for (const text of Object.values(INJECTIONS).flat())
      assert.ok(dictates(`I have looked at the tests.\n${text}\nThere are twelve of them.`), text);
  });

  it('the guard against dictated replies lets ordinary prompts and memory pass', () => {
    assert.deepEqual(HARMLESS.filter(dictates), []);
  });

  it('the guard against dictated replies finds reasons that follow a command, and no others', () => {
    assert.deepEqual(
      OBEDIENT_REASONS.filter((reason) => !obeys(reason)),
      [],
    );
    assert.deepEqual(HARMLESS_REASONS.filter(obeys), []);
  });

  it('the guard against dictated replies takes little time for a long text', () => {
    const since = performance.now();
    for (const text of [
      'a '.repeat(16_000),
      'reply '.repeat(5000),
      '0'.repeat(32_000),
      `answer:${' '.repeat(31_900)}`,
      'say,'.repeat(8000),
    ])
      dictates(text);
    assert.ok(performance.now() - since < 2000);
  });
});
