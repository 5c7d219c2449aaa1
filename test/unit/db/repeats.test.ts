import assert from 'node:assert/strict';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findRepeating, prepareComparison } from '../../../shared/db/stores/memory/repeats.ts';
import { loopTurnsDuring } from '../../support/loop-turns.ts';

const SECRET = 'the key hangs behind the boathouse door';
/** 4000 words, each a single letter. */
const LONG_TEXT = Array.from({ length: 4000 }, (_, n) => String.fromCharCode(97 + ((n * n) % 26))).join(' ');

describe('comparison with deleted texts', () => {
  const rowsOf = (count: number, text: string) =>
    Array.from({ length: count }, (_, n) => ({ id: `row ${n}`, text: `${text} ${n}` }));
  const isTimeUp = new AbortController();
  const lost = prepareComparison([SECRET], isTimeUp.signal);

  it('the comparison with deleted texts reads at most 200 sources of a row, and yields to the event loop between them', async () => {
    const { tx, read } = memoryOf(Array(500).fill(LONG_TEXT));
    const { turns, result } = await loopTurnsDuring(findRepeating(tx, 'account', rowsOf(1, SECRET), lost));
    assert.deepEqual([result, read()], [['row 0'], 200]);
    assert.ok(turns >= 100, `${turns} turns`);
  });

  it("the comparison with deleted texts stops reading a row's sources soon after one source has the deleted words", async () => {
    const { tx, read } = memoryOf([SECRET, ...Array(499).fill(LONG_TEXT)]);
    assert.deepEqual(await findRepeating(tx, 'account', rowsOf(1, SECRET), lost), []);
    assert.ok(read() <= 20, `${read()} sources`);
  });

  it('a deletion that has had its time treats the rows that it has not compared as repetitions, and reads no more', async () => {
    const { tx, read } = memoryOf(Array(200).fill(LONG_TEXT), () => isTimeUp.abort());
    assert.deepEqual(await findRepeating(tx, 'account', rowsOf(3, 'other'), lost), ['row 1', 'row 2']);
    assert.equal(read(), 0);
  });

  it('deletions of more text than can be compared treat every row as a repetition', async () => {
    const long = prepareComparison(Array(9).fill(LONG_TEXT), isTimeUp.signal);
    const found = await findRepeating(memoryOf([]).tx, 'account', rowsOf(3, 'other'), long);
    assert.equal(found.length, 3);
  });
});

/**
 * Fakes a transaction that finds these sources for any row; `read` returns the number of sources read. `onCompare` is
 * called when a row is compared.
 */
function memoryOf(sources: string[], onCompare = () => {}) {
  let count = 0;
  const execute = async (sql: string, values: unknown[]): Promise<object[]> => {
    if (sql.includes('"isPart"')) {
      onCompare();
      return [{ isPart: false }];
    }
    if (!sql.includes('"saysPart"'))
      return Object.keys(sources)
        .slice(0, Number(values.at(-1)))
        .map((id) => ({ id }));
    const ids = values.at(-1) as string[];
    count += ids.length;
    return ids.map((place) => ({ content: sources[Number(place)], saysPart: false }));
  };
  return { tx: { execute } as unknown as EntityManager, read: () => count };
}
