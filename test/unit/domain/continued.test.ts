import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import type { PredictionFacts } from '../../../shared/domain/prediction.ts';
import { fingerprint } from '../../../shared/security/fingerprint.ts';
import { remainingSuggestion, type Suggestion } from '../../../workers/predictions/predict.ts';

const key = randomBytes(32);
const hashOf = (draft: string) => fingerprint(key, draft).toString('base64url');

function factsOf(draft: string, part: Partial<PredictionFacts> = {}): PredictionFacts {
  return {
    requestId: 'r',
    userId: 'u',
    sessionId: 's',
    mode: 'complete_draft',
    connectionId: null,
    draftRevision: 1,
    draftLength: draft.length,
    draftHash: hashOf(draft),
    contextRevision: 'c',
    contextHash: 'same',
    minConfidence: 0.3,
    ...part,
  };
}

function suggestionFor(draft: string, answer: string, part: Partial<Suggestion> = {}): Suggestion {
  const report = { profileRevision: 'none', grantRevision: 0, contextTruncated: false, providerMs: 1 };
  return { id: 'p', answer, facts: factsOf(draft), report, hashOf, dismissed: false, ...part };
}

describe('continued suggestion', () => {
  const rest = (
    draft: string,
    part: Partial<PredictionFacts> = {},
    last = suggestionFor('Send', ' it now'),
  ) => remainingSuggestion(last, draft, factsOf(draft, { draftRevision: 2, ...part }));

  it('the rest of a suggestion is the part that the person has not typed yet', () => {
    assert.equal(rest('Send it'), ' now');
    assert.equal(rest('Send it now'), '');
  });

  it('the rest of a suggestion is empty for another draft, context or mode, or for a higher min_confidence', () => {
    for (const draft of ['Send', 'Sen', 'Send us', 'Bend it', 'send it', '', 'Send it now please'])
      assert.equal(rest(draft), '', draft);
    assert.equal(rest('Send it', { draftRevision: 1 }), '');
    assert.equal(rest('Send it', { contextHash: 'other' }), '');
    assert.equal(rest('Send it', { mode: 'next_prompt' }), '');
    assert.equal(rest('Send it', { minConfidence: 0.31 }), '');
    assert.equal(rest('Send it', { minConfidence: 0.2 }), ' now');
    assert.equal(rest('Send it', {}, suggestionFor('Send', ' it now', { dismissed: true })), '');
  });

  it('the rest of a suggestion completes the draft to exactly the suggested text', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(text, text, text, (draft, answer, typed) => {
        const left = rest(draft + typed, {}, suggestionFor(draft, answer));
        if (left !== '') assert.equal(draft + typed + left, draft + answer);
        else assert.ok(typed === '' || typed === answer || !answer.startsWith(typed));
      }),
    );
  });
});
