import assert from 'node:assert/strict';
import fc from 'fast-check';
import { codePointsIn, truncate, truncateMiddle, truncateWithEllipsis } from '../../../shared/text/cut.ts';
import { similarity } from '../../../shared/text/similarity.ts';
import { estimateTokens, TokenBudget } from '../../../shared/text/tokens.ts';
import { normalForm, positionedWords, wordsOf } from '../../../shared/text/words.ts';
import { pluck } from '../../support/pluck.ts';

const text = fc.string({ unit: 'binary' }).map((any) => any.toWellFormed());

describe('words of a text', () => {
  it('words of a text are normalized: lower case, no combining marks, no punctuation', () => {
    assert.deepEqual(wordsOf('Ein Café, “naïve” ﬁle-name: 2×'), [
      'ein',
      'cafe',
      'naive',
      'file',
      'name',
      '2',
    ]);
    assert.deepEqual(wordsOf('हिन्दी में'), ['हनद', 'म']);
  });

  it('words of a text are single characters in scripts without spaces, and whole words in others', () => {
    assert.deepEqual(wordsOf('我用pnpm。ขา မြ'), ['我', '用', 'pnpm', 'ข', 'า', 'မ']);
  });

  it('no character becomes more than four times as long by normalization', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      // Composed forms are never longer than decomposed ones.
      if (character.normalize('NFKD').length <= 4 * character.length) continue;
      for (const form of ['NFKC', 'NFKD'] as const)
        assert.equal(normalForm(character, form), character, `U+${code.toString(16)}`);
    }
  });

  it('words of a text have the correct start and end positions', () => {
    const sentence = 'Wé moved, to 东京!';
    const cut = positionedWords(sentence).map(({ start, end }) => sentence.slice(start, end));
    assert.deepEqual(cut, ['Wé', 'moved', 'to', '东', '京']);
    assert.deepEqual(pluck(positionedWords(sentence), 'word'), wordsOf(sentence));
  });
});

describe('shortened text', () => {
  it('a shortened text has at most `max` code points and is well-formed', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 20 }), (any, max) => {
        for (const cut of [truncate(any, max), truncateWithEllipsis(any, max), truncateMiddle(any, max)]) {
          assert.ok(codePointsIn(cut) <= max && cut.isWellFormed());
          if (codePointsIn(any) <= max) assert.equal(cut, any);
        }
      }),
    );
  });
});

describe('token budget', () => {
  it('a token budget cuts a text to a beginning or an end that fits the budget', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 20 }), (any, tokens) => {
        const [first, last] = [new TokenBudget(tokens), new TokenBudget(tokens)];
        const [head, tail] = [first.takeBeginning(any), last.takeEnd(any)];
        assert.ok(any.startsWith(head) && any.endsWith(tail));
        assert.ok(Math.max(estimateTokens(head), estimateTokens(tail)) <= tokens);
        assert.equal(first.isExceeded, head !== any);
      }),
    );
  });
});

describe('similarity of two texts', () => {
  it('the similarity of two texts is from 0 to 1, the same in both directions, and 1 for the same words', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const likeness = similarity(a, b);
        assert.ok(likeness >= 0 && likeness <= 1);
        assert.equal(likeness, similarity(b, a));
        assert.equal(similarity(a, a), wordsOf(a).length === 0 ? 0 : 1);
      }),
    );
  });
});
