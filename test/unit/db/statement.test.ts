import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { isAnswerLost } from '../../../shared/db/faults.ts';
import { query } from '../../../shared/db/statement.ts';

const STATEMENT = { name: 'any_v1', text: 'select 1 as n' };

/** Fakes a pool whose statements fail with these codes in turn, and then succeed. */
function failingPool(...codes: string[]) {
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

describe('prepared statement', () => {
  for (const conflict of ['40001', '40P01']) {
    it(`a prepared statement that fails with a conflict (SQLSTATE ${conflict}) is tried up to four times`, async () => {
      const passing = failingPool(conflict, conflict, conflict);
      assert.deepEqual(await query(passing.pool, STATEMENT, []), [{ n: 1 }]);
      assert.equal(passing.asked.length, 4);

      const stubborn = failingPool(conflict, conflict, conflict, conflict);
      await assert.rejects(query(stubborn.pool, STATEMENT, []), { code: conflict });
      assert.equal(stubborn.asked.length, 4);
    });
  }

  for (const lost of ['57P01', 'ECONNRESET', '53300']) {
    it(`a prepared statement is retried once when the database was unreachable (${lost})`, async () => {
      const passing = failingPool(lost);
      assert.deepEqual(await query(passing.pool, STATEMENT, []), [{ n: 1 }]);

      const unreachable = failingPool(lost, lost);
      await assert.rejects(query(unreachable.pool, STATEMENT, []), { code: lost });
      assert.equal(unreachable.asked.length, 2);
    });
  }

  for (const later of ['ECONNREFUSED', '55P03', '23505'])
    it(`a prepared statement whose first answer was lost is reported as possibly committed if its retry fails with ${later}`, async () => {
      const lost = failingPool('ECONNRESET', later);
      await assert.rejects(query(lost.pool, STATEMENT, []), (error: Error & { code?: string }) => {
        assert.equal(error.code, later);
        return isAnswerLost(error);
      });

      const refused = failingPool('ECONNREFUSED', later);
      await assert.rejects(query(refused.pool, STATEMENT, []), (error) => !isAnswerLost(error));
    });

  it('a prepared statement with a time limit is not retried when the database is unreachable', async () => {
    const { pool, asked } = failingPool('57P01');
    await assert.rejects(query(pool, STATEMENT, [], { withinMs: 300 }), { code: '57P01' });
    assert.deepEqual(
      asked.map(({ query_timeout }) => query_timeout),
      [300],
    );
  });

  it('a prepared statement is not retried after an error that it caused itself, such as a unique violation', async () => {
    const { pool, asked } = failingPool('23505');
    await assert.rejects(query(pool, STATEMENT, []), { code: '23505' });
    assert.equal(asked.length, 1);
  });
});
