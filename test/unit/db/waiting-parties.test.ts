import assert from 'node:assert/strict';
import { countWaitingParties } from '../../../shared/db/stores/work/load.ts';
import { newId } from '../../../shared/ids.ts';
import { useDatabase } from '../../support/database.ts';

describe('waiting parties', () => {
  const database = useDatabase();

  const addWork = (kind: string, party: string, state: 'queued' | 'running', deadline = '1 minute') =>
    database.pool.query(
      `insert into work (
         id, kind, party, key, state, queued_at, attempt, admission, fingerprint, supersedable, waiters,
         cancel_on_disconnect, admitted_at, deadline_at, facts, input)
       values ($1, $2, $3, $1, $4, now(), 1, $1, '', false, '{}', false, now(), now() + $5::interval, '{}', '')`,
      [newId(), kind, party, state, deadline],
    );

  it('waiting parties are counted once per kind, without those whose work of the kind runs or has expired', async () => {
    const [waiting, busy, late] = [newId(), newId(), newId()];
    for (const kind of ['sync', 'promote_facts']) await addWork(kind, waiting, 'queued');
    await addWork('sync', waiting, 'queued');
    await addWork('sync', busy, 'queued');
    await addWork('sync', busy, 'running');
    await addWork('sync', late, 'queued', '-1 second');
    await addWork('predict', newId(), 'queued');
    assert.equal(await countWaitingParties(database.pool, ['sync', 'promote_episodes', 'promote_facts']), 2);
  });
});
