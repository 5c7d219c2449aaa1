import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { reclaim } from '../../../shared/db/stores/work/claim.ts';
import { newId } from '../../../shared/ids.ts';
import { useDatabase } from '../../support/database.ts';

describe('reclaim', () => {
  const database = useDatabase();

  /** Makes a pool that runs statements on the test's database, but loses the first answer. */
  const losingFirstAnswer = () => {
    let isFirst = true;
    const pool = {
      async query(config: { name: string; text: string; values: unknown[] }) {
        const answer = await database.pool.query(config);
        if (!isFirst) return answer;
        isFirst = false;
        throw Object.assign(new Error('as told'), { code: 'ECONNRESET' });
      },
    };
    return pool as unknown as Pool;
  };

  it('a reclaim whose first answer is lost still returns the work, which no other worker can reclaim afterwards', async () => {
    const id = newId();
    await database.pool.query(
      `insert into work (
         id, kind, party, key, state, queued_at, attempt, admission, fingerprint, supersedable, waiters,
         cancel_on_disconnect, admitted_at, deadline_at, facts, input)
       values ($1, 'sync', $1, $1, 'queued', now(), 1, $1, '', false, '{}', false, now(), now() + interval '1 minute',
               '{}', '')`,
      [id],
    );
    const attempts = new Map([[id, 1]]);
    assert.deepEqual(await reclaim(losingFirstAnswer(), attempts, newId()), [id]);
    assert.deepEqual(await reclaim(database.pool, attempts, newId()), []);
  });
});
