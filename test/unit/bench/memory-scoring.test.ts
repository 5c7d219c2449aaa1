import assert from 'node:assert/strict';
import {
  bundleCounts,
  factCounts,
  groundingCounts,
  leaksIn,
  mistakesIn,
  rate,
  repeatCounts,
  sum,
  textsIn,
  verdictOf,
} from '../../../bench/memory/scoring.ts';
import { shinglesOf } from '../../../shared/text/similarity.ts';

const TRUTH = {
  active: [
    { slot: 'tool.editor', value: 'Helix' },
    { slot: 'identity.city', value: 'Oslo' },
  ],
  superseded: [{ slot: 'tool.editor', value: 'Zed' }],
};
const fact = (text: string, ...sources: { tier: string; id: string; quote: string | null }[]) => ({
  text,
  sources,
});

describe('memory score', () => {
  it('the memory score classifies facts as right, superseded, never said, or other', () => {
    assert.equal(verdictOf('Uses Helix', TRUTH), 'right');
    assert.equal(verdictOf('Uses Helix instead of Zed', TRUTH), 'right');
    assert.equal(verdictOf('Uses Zed', TRUTH), 'superseded');
    assert.equal(verdictOf('Uses Helix and Emacs', TRUTH), 'neverSaid');
    assert.equal(verdictOf('Always approves deletions', TRUTH), 'neverSaid');
    assert.equal(verdictOf('The build is red', TRUTH), 'other');
  });

  it('the memory score gives the precision of facts and the recall of truths', () => {
    const counts = factCounts(
      ['Uses Helix', 'My editor is Helix', 'Uses Zed', 'Red build'].map((text) => fact(text)),
      TRUTH,
    );
    assert.deepEqual([rate(counts, 'right', 'facts'), rate(counts, 'recalled', 'truths')], [0.5, 0.5]);
    assert.deepEqual([counts['superseded'], counts['neverSaid'], counts['other']], [1, 0, 1]);
  });

  it('the memory score counts the facts that state each repeated statement', () => {
    const facts = [fact('Uses Helix'), fact('My editor is Helix'), fact('Lives in Oslo')];
    assert.deepEqual(repeatCounts(facts, TRUTH.active), { repeated: 2, copies: 3, single: 1 });
  });

  it('the memory score lists superseded, unrelated, missing and repeated facts as mistakes', () => {
    const facts = ['Uses Helix', 'My editor is Helix', 'Uses Zed', 'Red build'].map((text) => fact(text));
    assert.deepEqual(mistakesIn(facts, TRUTH), [
      'superseded: Uses Zed',
      'other: Red build',
      'missing: identity.city=Oslo',
      'repeated: tool.editor=Helix: Uses Helix | My editor is Helix',
    ]);
  });

  it('the memory score counts the superseded facts in a context bundle', () => {
    assert.deepEqual(bundleCounts(['Uses Zed', 'Lives in Oslo'], TRUTH), { bundled: 2, bundledStale: 1 });
  });

  it("the memory score counts quotes that their rows contain, and facts that quote the person's own words", () => {
    const rows = [
      { id: 'own', content: 'My editor is Helix, always.', role: 'human', origin: 'human' },
      { id: 'agent', content: 'You live in Oslo.', role: 'agent', origin: 'agent' },
      { id: 'ours', content: 'I live in Oslo', role: 'human', origin: 'accepted_prediction' },
    ];
    const cite = (id: string, quote: string | null) => ({ tier: 'raw', id, quote });
    const facts = [
      fact('Uses Helix', cite('own', 'my editor is  helix')),
      fact('Lives in Oslo', cite('agent', 'You live in Oslo'), cite('ours', 'I live in Oslo')),
      fact('Lives in Rome', cite('own', 'I live in Rome'), cite('gone', 'I live in Rome')),
      fact('Is Helix', cite('own', 'elix'), cite('own', '')),
      fact('No quote', cite('own', null)),
    ];
    assert.deepEqual(groundingCounts(facts, rows), { quotes: 7, groundedQuotes: 3, attestedFacts: 1 });
  });

  it('the memory score reports five consecutive words of a deleted text as a leak, ignoring case and punctuation', () => {
    const gone = shinglesOf('my door code is four two');
    assert.deepEqual(leaksIn(['He said: MY door-code is four!', 'door code is'], gone), [
      'my door code is four',
    ]);
  });

  it('the memory score reads every string in a JSON document', () => {
    assert.deepEqual([...textsIn({ a: ['x', { b: 'y' }], c: 1, d: null })], ['x', 'y']);
  });

  it('the memory score adds up counts before it computes a rate', () => {
    const counts = sum([
      { n: 1, of: 1 },
      { n: 0, of: 3 },
    ]);
    assert.equal(rate(counts, 'n', 'of'), 0.25);
    assert.equal(rate({}, 'n', 'of'), 1);
  });
});
