import assert from 'node:assert/strict';
import { countWaitingParties } from '../../../shared/db/stores/work/load.ts';
import { readPartyLoad } from '../../../shared/db/stores/work/operate.ts';
import { newId, newIds } from '../../../shared/ids.ts';
import { useDatabase } from '../../support/database.ts';

describe('waiting parties', () => {
  const database = useDatabase();

  const addWork = (
    kind: string,
    party: string,
    state: 'queued' | 'running',
    { deadline = '1 minute', pieces = 1 } = {},
  ) =>
    database.pool.query(
      `insert into work (
         id, kind, party, key, state, queued_at, attempt, admission, fingerprint, supersedable, waiters,
         cancel_on_disconnect, admitted_at, deadline_at, facts, input)
       select id, $2, $3, id, $4, now(), 1, id, '', false, '{}', false, now(), now() + $5::interval, '{}', ''
         from unnest($1::uuid[]) id`,
      [newIds(pieces), kind, party, state, deadline],
    );

  it('waiting parties are counted once per kind, without those whose work of the kind runs or has expired', async () => {
    const [waiting, busy, late] = [newId(), newId(), newId()];
    for (const kind of ['sync', 'promote_facts']) await addWork(kind, waiting, 'queued');
    await addWork('sync', waiting, 'queued');
    await addWork('sync', busy, 'queued');
    await addWork('sync', busy, 'running');
    await addWork('sync', late, 'queued', { deadline: '-1 second' });
    await addWork('predict', newId(), 'queued');
    assert.equal(await countWaitingParties(database.pool, ['sync', 'promote_episodes', 'promote_facts']), 2);
  });

  it("an app's queued work is counted and its age read, however much of its work is running", async () => {
    const app = newId();
    await addWork('predict', app, 'running', { pieces: 1200 });
    await addWork('predict', app, 'queued', { pieces: 3 });
    const { queued, running, oldestS } = await readPartyLoad(database.pool, ['predict'], app);
    assert.deepEqual([queued, running, typeof oldestS], [3, 1200, 'number']);
  });
});
