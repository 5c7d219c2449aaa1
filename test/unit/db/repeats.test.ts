import assert from 'node:assert/strict';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findRepeating, newBudget, prepareComparison } from '../../../shared/db/stores/memory/repeats.ts';
import { loopTurnsDuring } from '../../support/loop-turns.ts';

const SECRET = 'the key hangs behind the boathouse door';
/** 4000 words, each a single letter. */
const LONG_TEXT = Array.from({ length: 4000 }, (_, n) => String.fromCharCode(97 + ((n * n) % 26))).join(' ');

describe('comparison with deleted texts', () => {
  const rowsOf = (count: number, text: string) =>
    Array.from({ length: count }, (_, n) => ({ id: `row ${n}`, text: `${text} ${n}` }));

  it('the comparison of 100 long texts with deleted texts yields to the event loop at least 50 times', async () => {
    const { tx } = memoryOf([]);
    const lost = prepareComparison([SECRET], newBudget());
    const { turns, result } = await loopTurnsDuring(
      findRepeating(tx, 'account', rowsOf(100, LONG_TEXT), lost),
    );
    assert.deepEqual(result, []);
    assert.ok(turns >= 50, `${turns} turns`);
  });

  it('the comparison with deleted texts reads at most 200 sources of a row, and yields to the event loop between them', async () => {
    const { tx, read } = memoryOf(Array(500).fill(LONG_TEXT));
    const lost = prepareComparison([SECRET], newBudget());
    const { turns, result } = await loopTurnsDuring(findRepeating(tx, 'account', rowsOf(1, SECRET), lost));
    assert.deepEqual([result, read()], [['row 0'], 200]);
    assert.ok(turns >= 100, `${turns} turns`);
  });

  it("the comparison with deleted texts stops reading a row's sources soon after one source has the deleted words", async () => {
    const { tx, read } = memoryOf([SECRET, ...Array(499).fill(LONG_TEXT)]);
    const found = await findRepeating(
      tx,
      'account',
      rowsOf(1, SECRET),
      prepareComparison([SECRET], newBudget()),
    );
    assert.deepEqual(found, []);
    assert.ok(read() <= 20, `${read()} sources`);
  });

  it('the comparison with deleted texts treats the rows that it has no time to compare as repetitions', async () => {
    const { tx, read } = memoryOf(Array(200).fill(LONG_TEXT));
    const rows = rowsOf(2000, SECRET);
    const found = await findRepeating(tx, 'account', rows, prepareComparison([SECRET], newBudget()));
    assert.equal(found.length, rows.length);
    assert.ok(read() < 2000, `${read()} sources`);
    const all = await findRepeating(
      tx,
      'account',
      rowsOf(3, 'other'),
      prepareComparison(Array(9).fill(LONG_TEXT), newBudget()),
    );
    assert.equal(all.length, 3);
  }).timeout(30_000);

  it('the comparisons of one deletion share a time budget, and read no more sources once the budget is spent', async () => {
    const { tx, read } = memoryOf(Array(200).fill(LONG_TEXT));
    const budget = newBudget();
    await findRepeating(tx, 'account', rowsOf(2000, SECRET), prepareComparison([SECRET], budget));
    const before = read();
    const found = await findRepeating(tx, 'account', rowsOf(3, 'other'), prepareComparison([SECRET], budget));
    assert.deepEqual([found.length, read()], [3, before]);
  }).timeout(30_000);
});

/** Fakes a transaction that finds these sources for any row; `read` returns the number of sources read. */
function memoryOf(sources: string[]) {
  let count = 0;
  const execute = async (sql: string, values: unknown[]): Promise<object[]> => {
    const ids: string[] = JSON.parse(String(values.at(-1)));
    if (sql.includes('as sources')) {
      const places = Object.keys(sources).slice(0, Number(values.at(-2)));
      return ids.map((id) => ({ id, sources: places }));
    }
    if (!sql.includes('"containsDerived"')) return [];
    count += ids.length;
    return ids.map((place) => ({ content: sources[Number(place)], containsDerived: false }));
  };
  return { tx: { execute } as unknown as EntityManager, read: () => count };
}
