import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { query } from '../../../shared/db/statement.ts';

const STATEMENT = { name: 'any_v1', text: 'select 1 as n' };

/** A pool whose statements fail with these codes, one after the other, and then succeed. */
function failing(...codes: string[]) {
  const asked: { query_timeout?: number }[] = [];
  const pool = {
    async query(config: { query_timeout?: number }) {
      asked.push(config);
      const code = codes.shift();
      if (code !== undefined) throw Object.assign(new Error('as told'), { code });
      return { rows: [{ n: 1 }] };
    },
  };
  return { asked, pool: pool as unknown as Pool };
}

describe('statement of the hot path', () => {
  for (const conflict of ['40001', '40P01']) {
    it(`a statement of the hot path is retried after a conflict (${conflict}), four times in all`, async () => {
      const passing = failing(conflict, conflict, conflict);
      assert.deepEqual(await query(passing.pool, STATEMENT, []), [{ n: 1 }]);
      assert.equal(passing.asked.length, 4);

      const stubborn = failing(conflict, conflict, conflict, conflict);
      await assert.rejects(query(stubborn.pool, STATEMENT, []), { code: conflict });
      assert.equal(stubborn.asked.length, 4);
    });
  }

  for (const lost of ['57P01', 'ECONNRESET', '53300']) {
    it(`a statement of the hot path is retried once when the database was unreachable (${lost})`, async () => {
      const passing = failing(lost);
      assert.deepEqual(await query(passing.pool, STATEMENT, []), [{ n: 1 }]);

      const away = failing(lost, lost);
      await assert.rejects(query(away.pool, STATEMENT, []), { code: lost });
      assert.equal(away.asked.length, 2);
    });
  }

  it('a statement of the hot path is tried only once when its time is limited and the database is unreachable', async () => {
    const { pool, asked } = failing('57P01');
    await assert.rejects(query(pool, STATEMENT, [], { withinMs: 300 }), { code: '57P01' });
    assert.deepEqual(
      asked.map(({ query_timeout }) => query_timeout),
      [300],
    );
  });

  it('a statement of the hot path is not retried after a fault of its own', async () => {
    const { pool, asked } = failing('23505');
    await assert.rejects(query(pool, STATEMENT, []), { code: '23505' });
    assert.equal(asked.length, 1);
  });
});
