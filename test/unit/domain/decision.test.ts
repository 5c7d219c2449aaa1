import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Message } from '../../../shared/schemas/predictions.ts';
import { decideCompletion, hasNothingToWorkOn } from '../../../workers/predictions/predict.ts';

const messageOf = (content: string): Message => ({ role: 'user', content, origin: 'human' });
const draftOf = (text: string) => ({ text, revision: 1 });
const artifact = { kind: 'slides', id: 'a', revision: '1', selection: '', summary: '' } as const;

const request = {
  draft: draftOf('Send the report'),
  messages: [messageOf('first'), messageOf('Straße nach Köln')],
};
const ABSTENTION = { state: 'abstained', completion: '' };

function completionOf(completion: string): string {
  return decideCompletion({ completion, confidence: 1 }, request, 0.3).completion;
}

describe('hasNothingToWorkOn', () => {
  const cases: [string, Parameters<typeof hasNothingToWorkOn>[0], boolean][] = [
    [
      'a draft to complete',
      { mode: 'complete_draft', draft: draftOf('a'), messages: [], artifact: null },
      false,
    ],
    [
      'a blank draft to complete',
      { mode: 'complete_draft', draft: draftOf(' \n'), messages: [messageOf('a')], artifact },
      true,
    ],
    [
      'an invisible draft to complete',
      { mode: 'complete_draft', draft: draftOf('\u200b\ufeff'), messages: [], artifact },
      true,
    ],
    [
      'a next prompt from nothing',
      { mode: 'next_prompt', draft: draftOf(''), messages: [], artifact: null },
      true,
    ],
    [
      'a next prompt from a draft',
      { mode: 'next_prompt', draft: draftOf('a'), messages: [], artifact: null },
      false,
    ],
    [
      'a next prompt from a message',
      { mode: 'next_prompt', draft: draftOf(''), messages: [messageOf('a')], artifact: null },
      false,
    ],
    [
      'a next prompt from an artifact',
      { mode: 'next_prompt', draft: draftOf(''), messages: [], artifact },
      false,
    ],
  ];
  for (const [name, given, nothing] of cases)
    it(`hasNothingToWorkOn ${nothing ? 'is true for' : 'is false for'} ${name}`, () =>
      assert.equal(hasNothingToWorkOn(given), nothing));
});

describe('decideCompletion', () => {
  it('decideCompletion suggests at exactly the minimum confidence, and abstains below it', () => {
    const guess = { completion: ' now', confidence: 0.3 };
    assert.deepEqual(decideCompletion(guess, request, 0.3), { state: 'suggested', completion: ' now' });
    assert.deepEqual(decideCompletion(guess, request, 0.30001), ABSTENTION);
    assert.deepEqual(decideCompletion({ ...guess, confidence: Number.NaN }, request, 0), ABSTENTION);
  });

  it('decideCompletion suggests at a confidence of 0 if the minimum is 0, but never an empty completion', () => {
    assert.equal(decideCompletion({ completion: ' now', confidence: 0 }, request, 0).state, 'suggested');
    assert.deepEqual(decideCompletion({ completion: '', confidence: 0 }, request, 0), ABSTENTION);
  });

  const empty = ['', ' ', '\n\t', '\u200b', '\u00ad\ufeff'];
  const echoes = ['Send the report', ' SEND THE REPORT\n', 'straße nach köln', 'STRASSE NACH KO\u0308LN '];
  for (const completion of [...empty, ...echoes])
    it(`decideCompletion abstains on a completion that ${empty.includes(completion) ? 'is blank' : 'only repeats the draft or the last message'}: ${JSON.stringify(completion)}`, () =>
      assert.deepEqual(decideCompletion({ completion, confidence: 1 }, request, 0.3), ABSTENTION));

  it('decideCompletion suggests a completion that contains more than the draft, or repeats an earlier message', () => {
    assert.equal(completionOf('Send the report now'), 'Send the report now');
    assert.equal(completionOf('first'), 'first');
  });

  it('decideCompletion leaves completions of up to 2000 code points unchanged', () => {
    const long = '😀'.repeat(1999);
    assert.equal(completionOf(`${long} `), `${long} `);
    assert.equal(completionOf(`${long}x`), `${long}x`);
  });

  it('decideCompletion cuts a completion to at most 2000 code points, after a whole word unless a word is longer', () => {
    assert.equal(completionOf('word '.repeat(1000)), 'word '.repeat(400).trimEnd());
    assert.equal(completionOf(`${'w'.repeat(1990)} anotherlongword`), 'w'.repeat(1990));
    assert.equal(completionOf(`${'w'.repeat(2000)} next`), 'w'.repeat(2000));
    assert.equal(completionOf('w'.repeat(5000)), 'w'.repeat(2000));
    assert.equal([...completionOf('😀'.repeat(5000))].length, 2000);
  });

  it('decideCompletion returns a well-formed beginning of at most 2000 code points of any text', () => {
    const long = fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(long, fc.integer({ min: 1, max: 200 }), (parts, times) => {
        const text = parts.join(' ').repeat(times);
        const completion = completionOf(text);
        assert.ok(text.startsWith(completion));
        assert.ok(completion.isWellFormed());
        assert.ok([...completion].length <= 2000);
      }),
    );
  });
});
