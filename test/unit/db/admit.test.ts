import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type Admission, admit, detach } from '../../../shared/db/stores/work/admit.ts';
import { requestKey } from '../../../shared/domain/work.ts';
import { newId, newIds } from '../../../shared/ids.ts';
import { lockRow } from '../../support/row-lock.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

const TERMS = {
  process: newId(),
  timeoutMs: 60_000,
  recoveryWindowS: 600,
  outlivesCallers: false,
  sandboxUnits: 1000,
};

describe('admission of a batch', () => {
  const system = useSystem({ workers: 0 });

  const admitAs = (kind: string, price: number | null, batch: Admission[], maxQueued?: number) =>
    admit(system.database.pool, batch, { ...TERMS, kind, unitPriceMicrocents: price }, maxQueued);

  function requestOf(party: string, line: string | null = null, revision = 1, id = newId()): Admission {
    return {
      id,
      party,
      key: requestKey('predict', party, id),
      fingerprint: randomBytes(32),
      userId: 'user',
      connectionId: null,
      line: line === null ? null : { key: line, revision, textHash: randomBytes(32), supersedable: true },
      wait: false,
      cancelOnDisconnect: false,
      facts: {},
      input: '{}',
    };
  }

  it('an admission locks superseded predictions in the order of their ids', async () => {
    const { id: party } = await system.app();
    const [lines, ids] = [newIds(2), newIds(2)];
    const [older = '', younger = ''] = ids;
    const draft = (n: number, revision: number, id?: string) => requestOf(party, lines[n], revision, id);
    await admitAs('predict', 1, [draft(0, 1, older), draft(1, 1, younger)]);
    const lock = await lockRow(system, 'work', 'id = $1', [older]);
    const admitting = admitAs('predict', 1, [draft(1, 2), draft(0, 2)]);
    admitting.catch(() => {});
    await until(async () => {
      const { rowCount } = await system.database.pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%admit_v1%'`,
      );
      return rowCount === 1;
    });
    const free = await system.database.pool.query('select from work where id = $1 for update skip locked', [
      younger,
    ]);
    assert.equal(free.rowCount, 1);
    await lock.release();
    assert.deepEqual(
      (await admitting).map(({ decision, superseded }) => [decision, superseded]),
      [
        ['admitted', [younger]],
        ['admitted', [older]],
      ],
    );
  });

  it('cancel_on_disconnect is cleared when an answered caller detaches, unless a caller waits at another living process', async () => {
    const { pool } = system.database;
    const { id: party } = await system.app();
    const leave = async (other: string): Promise<boolean> => {
      const wanted = { ...requestOf(party), cancelOnDisconnect: true };
      await admitAs('predict', 1, [wanted]);
      await pool.query('update work set waiters = waiters || $2::uuid where id = $1', [wanted.id, other]);
      await detach(pool, [{ party, key: wanted.key, disconnected: false }], TERMS.process);
      const { rows } = await pool.query('select cancel_on_disconnect from work where id = $1', [wanted.id]);
      return rows[0].cancel_on_disconnect;
    };
    const { rows } = await pool.query('select id from processes where alive_until > now()');
    assert.equal(await leave(rows[0].id), true);
    assert.equal(await leave(newId()), false);
  });

  it('a full queue admits a new revision of a queued draft, and no other prediction', async () => {
    const { id: party } = await system.app();
    const line = newId();
    const [earlier] = await admitAs('predict', 1, [requestOf(party, line, 1)], 1);
    const full = await admitAs('predict', 1, [requestOf(party, line, 2), requestOf(party)], 1);
    assert.deepEqual(
      full.map(({ decision, superseded }) => [decision, superseded]),
      [
        ['admitted', [earlier?.id]],
        ['overloaded', []],
      ],
    );
  });

  it('a negative queue limit, as without a worker, admits not even a new revision of a queued draft', async () => {
    const { id: party } = await system.app();
    const line = newId();
    await admitAs('predict', 1, [requestOf(party, line, 1)]);
    const [newer] = await admitAs('predict', 1, [requestOf(party, line, 2)], -1);
    assert.equal(newer?.decision, 'overloaded');
  });

  it('a full queue admits no new revision of a queued draft whose callers have left, which takes up no place', async () => {
    const { id: party } = await system.app();
    const line = newId();
    const earlier = requestOf(party, line, 1);
    await admitAs('predict', 1, [earlier]);
    await detach(system.database.pool, [{ party, key: earlier.key, disconnected: true }], TERMS.process);
    await admitAs('predict', 1, [requestOf(party)], 1);
    const [newer] = await admitAs('predict', 1, [requestOf(party, line, 2)], 1);
    assert.equal(newer?.decision, 'overloaded');
  });

  it('no work is admitted for an account that does not exist', async () => {
    const [refused] = await admitAs('draft', null, [requestOf(newId())]);
    assert.equal(refused?.decision, 'not_authenticated');
  });
});
