import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LIKELIHOOD_PROBABILITIES, LIKELIHOODS } from '../../../../shared/domain/likelihood.ts';
import { candidatesOf, marginsOf, type Proposal } from '../../../../shared/domain/replies/candidates.ts';
import { createVoter, type PromptReply } from '../../../../shared/domain/replies/vote.ts';
import { newId } from '../../../../shared/ids.ts';
import { meaningOf } from '../../../../shared/text/meaning.ts';
import { proposeLocally } from '../../../../workers/replies/reply.ts';

const proposal = (response: string, likelihood: Proposal['likelihood'] = 'even'): Proposal => ({
  response,
  reasoning: 'why',
  likelihood,
  needsUnknownFact: false,
});
const proposals = fc.array(
  fc.record({
    response: fc.oneof(fc.constantFrom('Yes', 'yes.', 'No', ''), fc.string({ unit: 'grapheme' })),
    reasoning: fc.string(),
    likelihood: fc.constantFrom(...LIKELIHOODS),
    needsUnknownFact: fc.boolean(),
  }),
  { maxLength: 8 },
);

describe('candidates', () => {
  it('reply candidates are distinct, not blank and at most k; the probabilities are sorted and sum to at most 1', () => {
    fc.assert(
      fc.property(
        proposals,
        fc.constantFrom(...LIKELIHOODS),
        fc.integer({ min: 1, max: 5 }),
        (proposed, none, k) => {
          const candidates = candidatesOf(proposed, none, k);
          const replies = candidates.map(({ response }) => meaningOf(response));
          const raws = candidates.map(({ raw }) => raw);
          assert.ok(candidates.length <= k);
          assert.equal(new Set(replies).size, replies.length);
          assert.ok(!replies.includes(''));
          assert.deepEqual(
            raws,
            raws.toSorted((a, b) => b - a),
          );
          const total = raws.reduce((sum, raw) => sum + raw, 0);
          assert.ok(total === 0 || total + Math.min(LIKELIHOOD_PROBABILITIES[none], 1 - total) <= 1 + 1e-9);
        },
      ),
    );
  });

  it('reply candidates that say the same in other words are one', () => {
    const same = [proposal('Yes', 'likely'), proposal('y'), proposal('👍'), proposal('No', 'guess')];
    assert.deepEqual(
      candidatesOf(same, 'guess', 3).map(({ response }) => response),
      ['Yes', 'No'],
    );
  });

  it('the probabilities of reply candidates are scaled down if they sum to more than 1', () => {
    const candidates = candidatesOf([proposal('Yes', 'almost_certain'), proposal('No', 'likely')], 'even', 2);
    const total = candidates.reduce((sum, { raw }) => sum + raw, 0);
    assert.ok(total < 1 && total > 0.7);
    assert.deepEqual(candidatesOf([proposal('Yes', 'likely')], 'guess', 1)[0]?.raw, 0.78);
  });

  it('reply candidates with unsafe characters are dropped, and a reason with unsafe characters is blanked', () => {
    const unsafe = [
      proposal('Yes\u202e'),
      proposal('a\u001b[2J'),
      { ...proposal('No'), reasoning: '\u0000' },
    ];
    assert.deepEqual(
      candidatesOf(unsafe, 'guess', 3).map(({ response, reasoning }) => [response, reasoning]),
      [['No', '']],
    );
  });

  it("a reply candidate's margin is its lead over the best other candidate", () => {
    assert.deepEqual(marginsOf([{ raw: 0.5 }, { raw: 0.25 }]), [0.25, -0.25]);
    assert.deepEqual(marginsOf([{ raw: 0.5 }]), [0.5]);
  });
});

describe('vote', () => {
  const pair = (prompt: string, reply: string): PromptReply => ({
    id: newId(),
    promptId: newId(),
    on: '',
    at: 0,
    prompt,
    reply,
  });
  const habit = Array.from({ length: 6 }, () => pair('Shall I run the linter now?', 'Yes please'));

  it('the built-in predictor repeats the reply to similar prompts, and is surer the more often the reply was given', () => {
    const shares = [1, 3, 6].map((n) =>
      createVoter(habit.slice(0, n))('Shall I run the linter now?').shareOf('yes'),
    );
    assert.deepEqual(shares, [1 / 2, 3 / 4, 6 / 7]);
    const { candidates, closed } = proposeLocally(
      'Shall I run the linter now?',
      createVoter(habit)('Shall I run the linter now?'),
      6,
      1,
    );
    assert.deepEqual([candidates[0]?.response, closed], ['Yes please', true]);
  });

  it("the built-in predictor proposes none of the person's replies that cannot be displayed safely, or have a code that the prompt lacks", () => {
    const repeated = (prompt: string, reply: string) =>
      proposeLocally(prompt, createVoter([1, 2, 3].map(() => pair(prompt, reply)))(prompt), 3, 3).candidates
        .length;
    for (const reply of ['yes\u001b[2J', 'yes\u202e', 'use kdk32xq9'])
      assert.equal(repeated('Run it?', reply), 0);
    assert.equal(repeated('Run kdk32xq9 or kdk33xq9?', 'kdk32xq9'), 1);
  });

  it('the built-in predictor counts all ways to say yes as one reply, in the wording used most', () => {
    const yes = ['ok', 'Yes', 'go ahead', 'Yes'].map((reply) => pair('Run the linter?', reply));
    const { replies } = createVoter(yes)('Run the linter?');
    assert.deepEqual(
      replies.map(({ response, times }) => [response, times]),
      [['Yes', 4]],
    );
  });
});
