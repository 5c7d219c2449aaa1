import assert from 'node:assert/strict';
import { bundleOf } from '../../../shared/domain/context-bundle.ts';
import { chooseBest, type Ranked } from '../../../shared/domain/context-ranking.ts';
import { offerOf } from '../../support/context-offer.ts';
import { loopTurnsDuring } from '../../support/loop-turns.ts';

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
