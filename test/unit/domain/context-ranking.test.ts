import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bundleOf } from '../../../shared/domain/context-bundle.ts';
import { chooseBest, type Ranked, worthOf } from '../../../shared/domain/context-ranking.ts';
import { offerOf } from '../../support/context-offer.ts';
import { loopTurnsDuring } from '../../support/loop-turns.ts';

const DAY_MS = 86_400_000;

describe('worth of a memory row', () => {
  const merits = { relevance: 0, ageMs: 0, salience: 0.5, sources: 0 };

  it("a memory row's worth grows with relevance, salience and sources, and its recency halves every half-life", () => {
    const base = worthOf(merits, DAY_MS);
    for (const better of [{ relevance: 0.1 }, { salience: 0.6 }, { sources: 1 }])
      assert.ok(worthOf({ ...merits, ...better }, DAY_MS) > base);
    const recency = (ageMs: number) => worthOf({ ...merits, salience: 0, ageMs }, DAY_MS);
    assert.ok(Math.abs(recency(0) / recency(DAY_MS) - 2) < 1e-9);
    assert.equal(recency(-DAY_MS), recency(0));
    assert.equal(worthOf({ ...merits, sources: 10 }, 1), worthOf({ ...merits, sources: 1000 }, 1));
  });

  it('a memory row that is old and relevant is worth more than one that is new and irrelevant', () => {
    const old = worthOf({ ...merits, relevance: 1, ageMs: 1000 * DAY_MS }, DAY_MS);
    assert.ok(old > worthOf(merits, DAY_MS));
  });
});

describe('choosing the best memory rows', () => {
  const row = (id: string, worth: number, part: Partial<Ranked<object>> = {}) => ({
    row: { id },
    text: `text of ${id}`,
    worth,
    pinned: false,
    ...part,
  });
  const idsOf = (rows: object[]) => rows.map((one) => (one as { id: string }).id);

  it('choosing the best memory rows takes pinned rows first, then rows of higher worth, then the later of two equal rows', async () => {
    const rows = [row('a', 0.9), row('b', 0.1, { pinned: true }), row('c', 0.5), row('d', 0.5)];
    assert.deepEqual(idsOf(await chooseBest(rows, 3)), ['b', 'a', 'd']);
  });

  it('choosing the best memory rows takes a row that repeats a better row only after all other rows', async () => {
    const same = 'prefers the short answer in two sentences';
    const rows = [
      row('a', 0.9, { text: same }),
      row('b', 0.8, { text: `${same}.` }),
      row('c', 0.1),
      row('d', 0.05),
    ];
    assert.deepEqual(idsOf(await chooseBest(rows, 2)), ['a', 'c']);
    assert.deepEqual(idsOf(await chooseBest(rows.slice(0, 3), 3)), ['a', 'b', 'c']);
    assert.deepEqual(idsOf(await chooseBest([...rows, row('e', 0.01, { text: same })], 4)), [
      'a',
      'c',
      'd',
      'b',
    ]);
  });

  it('choosing the best memory rows does not treat a text with another number or word order as a repetition', async () => {
    const text = 'the staging database of the second region listens on port 7431';
    const number = [
      row('a', 0.9, { text }),
      row('b', 0.8, { text: text.replace('7431', '7432') }),
      row('c', 0.1),
    ];
    assert.deepEqual(idsOf(await chooseBest(number, 2)), ['a', 'b']);
    const swapped = [
      row('a', 0.9, { text: 'use pnpm not npm' }),
      row('b', 0.8, { text: 'use npm not pnpm' }),
      row('c', 0.1),
    ];
    assert.deepEqual(idsOf(await chooseBest(swapped, 2)), ['a', 'b']);
  });

  it('choosing the best memory rows yields to other requests between long texts', async () => {
    const words = (n: number) => Array.from({ length: 330 }, (_, at) => `w${at * n}`).join(' ');
    const rows = Array.from({ length: 650 }, (_, n) => row(`${n}`, 1 / (n + 1), { text: words(n) }));
    const { turns, result } = await loopTurnsDuring(chooseBest(rows, 649));
    assert.equal(result.length, 649);
    assert.ok(turns >= 2, `${turns} turns`);
  });

  it('choosing the best memory rows does not depend on the order in which the rows are given', async () => {
    const rows = fc.uniqueArray(
      fc.record({
        id: fc.uuid(),
        worth: fc.constantFrom(0.1, 0.2, 0.3),
        text: fc.constantFrom('a b', 'b c', 'c'),
      }),
      { selector: ({ id }) => id, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 6 }), async (some, most) => {
        const ranked = some.map(({ id, worth, text }) => row(id, worth, { text }));
        assert.deepEqual(await chooseBest(ranked, most), await chooseBest(ranked.toReversed(), most));
      }),
    );
  });
});

describe('context bundle', () => {
  it('a context bundle yields to other requests while it masks the secrets of long rows', async () => {
    const text = 'the build of the second region is green and nobody waits for it '.repeat(120);
    const offer = offerOf(text);
    const facts = { ...offer.facts, rows: Array.from({ length: 500 }, () => offer.facts.rows).flat() };
    const limits = { recencyMinutes: 60, maxFacts: 500, maxEpisodes: 3, maxRaw: 3 };
    const { turns, result } = await loopTurnsDuring(bundleOf({ ...offer, facts }, limits));
    assert.equal(result.facts.length, 500);
    assert.ok(turns >= 2, `${turns} turns`);
  });
});
