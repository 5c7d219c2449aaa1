import assert from 'node:assert/strict';
import { PRIOR_CALIBRATOR } from '../../../../shared/domain/replies/calibrator.ts';
import { decideReply } from '../../../../shared/domain/replies/decide.ts';
import { Precedents } from '../../../../shared/domain/replies/support.ts';
import { createVoter } from '../../../../shared/domain/replies/vote.ts';

const PROMPT = 'Shall I run the nightly import of the orders now, or wait for the report?';
const REPLIES = 500;
const REPLY_CHARS = 8000;
/** Characters of which normalization makes one, four, six and 18. */
const CHARACTERS = ['a', '\u3309', '\u3316', '\ufdfa'];

/** Counts the characters that normalization gets and returns while `call` runs. */
function charactersNormalizedBy(call: () => void): number {
  const { normalize } = String.prototype;
  let count = 0;
  String.prototype.normalize = function (form?: string) {
    const normal = normalize.call(this, form);
    count += this.length + normal.length;
    return normal;
  };
  try {
    call();
  } finally {
    String.prototype.normalize = normalize;
  }
  return count;
}

const repliesTo = (reply: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: String(n),
    promptId: `prompt ${n}`,
    on: '',
    at: n,
    prompt: PROMPT,
    reply,
  }));

const supportOf = () => ({
  supported: true,
  strict: false,
  similar: 0,
  agreeing: 0,
  reply_ids: [],
  prediction_ids: [],
});

/** Reports whether a likely reply loses probability, because it copies the prompt's words and not those of the history. */
function countsAsCopied(response: string, history: readonly string[]): boolean {
  const candidates = [{ response, reasoning: '', raw: 0.97, needsUnknownFact: false }];
  const proposal = { candidates, closed: false, reason: '' };
  const terms = {
    threshold: 0.5,
    isKey: false,
    agent: 'a',
    model: 'm',
    calibrator: PRIOR_CALIBRATOR,
    isDictated: false,
  };
  const context = { ...terms, prompt: PROMPT, history, shareOf: () => 0, supportOf };
  return decideReply(proposal, context).candidates.some(({ raw }) => raw < 0.5);
}

describe('long replies', () => {
  it('comparing hundreds of replies of maximum length normalizes none of them', () => {
    for (const character of CHARACTERS) {
      const pairs = repliesTo(character.repeat(REPLY_CHARS), REPLIES);
      const count = charactersNormalizedBy(() => {
        createVoter(pairs);
        new Precedents(pairs, []).supportFor(PROMPT);
      });
      assert.ok(count < REPLY_CHARS, `${count} for ${character}`);
    }
  });

  it('the search of the history for copied words stops after the latest replies if there is too much text', () => {
    const copy = 'run the nightly import of the orders now, or wait';
    const short = Array.from({ length: REPLIES }, () => 'yes, and then show me what has changed');
    assert.ok(!countsAsCopied(copy, [...short, copy]));
    for (const character of CHARACTERS) {
      const long = Array.from({ length: REPLIES }, () => character.repeat(REPLY_CHARS));
      assert.ok(!countsAsCopied(copy, [copy, ...long]));
      const count = charactersNormalizedBy(() => assert.ok(countsAsCopied(copy, [...long, copy])));
      assert.ok(count < 1_000_000, `${count} for ${character}`);
    }
  });
});
