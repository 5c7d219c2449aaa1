import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type Admission, admit, detach, type Shedding } from '../../../shared/db/stores/work/admit.ts';
import { requestKey } from '../../../shared/domain/work.ts';
import { newId, newIds } from '../../../shared/ids.ts';
import { lockRow, untilLocked } from '../../support/row-lock.ts';
import { useSystem } from '../../support/system.ts';

const TERMS = {
  process: newId(),
  timeoutMs: 60_000,
  recoveryWindowS: 600,
  outlivesCallers: false,
  sandboxUnits: 1000,
};

describe('admission of a batch', () => {
  const system = useSystem({ workers: 0 });

  const admitAs = (kind: string, price: number | null, batch: Admission[], shedding?: Shedding) =>
    admit(system.database.pool, batch, { ...TERMS, kind, unitPriceMicrocents: price }, shedding);

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
    await untilLocked(system, 'admit_v1');
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

  /** Makes the party's queued work `queuedS` old, as far as it is not, and lets its oldest pieces run for `runningS`. */
  async function age(party: string, { queuedS = 0, running = 0, runningS = 0 }): Promise<void> {
    const { pool } = system.database;
    await pool.query(`update work set queued_at = now() - make_interval(secs => $2) where party = $1`, [
      party,
      queuedS,
    ]);
    await pool.query(
      `update work set state = 'running', started_at = now() - make_interval(secs => $3)
        where id in (select id from work where party = $1 order by id limit $2)`,
      [party, running, runningS],
    );
  }

  it('a full queue admits a new revision of a queued draft whose callers wait, and no other prediction #overload', async () => {
    const { id: party } = await system.app();
    const [line, leftLine] = [newId(), newId()];
    const left = requestOf(party, leftLine, 1);
    const [earlier] = await admitAs('predict', 1, [requestOf(party, line, 1), left, requestOf(party)]);
    await detach(system.database.pool, [{ party, key: left.key, disconnected: true }], TERMS.process);
    await age(party, { queuedS: 31 });
    const batch = [requestOf(party, line, 2), requestOf(party), requestOf(party, leftLine, 2)];
    const full = await admitAs('predict', 1, batch, {});
    assert.deepEqual(
      full.map(({ decision, superseded }) => [decision, superseded]),
      [
        ['admitted', [earlier?.id]],
        ['overloaded', []],
        ['overloaded', []],
      ],
    );
  });

  it('a queue admits as many predictions as begin within a third of the deadline, at the rate at which they begin now #overload', async () => {
    const { id: party } = await system.app();
    await admitAs(
      'predict',
      1,
      Array.from({ length: 10 }, () => requestOf(party)),
    );
    // Two of four have begun within 10 s: four of the six that wait begin within a third of the minute.
    await age(party, { queuedS: 7, running: 4, runningS: 10 });
    const refusedOf = async (count: number) =>
      (
        await admitAs(
          'predict',
          1,
          Array.from({ length: count }, () => requestOf(party)),
          {},
        )
      ).filter(({ decision }) => decision === 'overloaded').length;
    assert.equal(await refusedOf(3), 3);
    await age(party, { queuedS: 7, running: 4, runningS: 4 });
    assert.equal(await refusedOf(9), 5, 'ten begin within a third of the minute');
    const { id: newcomer } = await system.app();
    assert.equal((await admitAs('predict', 1, [requestOf(newcomer)], {}))[0]?.decision, 'admitted');
  });

  it('nothing is admitted for a pool without a worker, or whose workers have had no free slot for half of the deadline #overload', async () => {
    const { id: party } = await system.app();
    const { pool } = system.database;
    const line = newId();
    await admitAs('predict', 1, [requestOf(party, line, 1)]);
    const decide = async () =>
      (await admitAs('predict', 1, [requestOf(party, line, 2)], { suspectPool: 'predict' }))[0]?.decision;
    assert.equal(await decide(), 'overloaded');
    const beat = (stalledMs: number) =>
      pool.query(
        `insert into processes (id, kind, alive_until, pools)
         values (gen_random_uuid(), 'test', now() + interval '1 minute', $1)`,
        [{ predict: { slots: 1, claimed: 0, stalledMs } }],
      );
    await beat(31_000);
    assert.equal(await decide(), 'overloaded');
    await beat(0);
    assert.equal(await decide(), 'admitted');
  });

  it('no work is admitted for an account that does not exist', async () => {
    const [refused] = await admitAs('draft', null, [requestOf(newId())]);
    assert.equal(refused?.decision, 'not_authenticated');
  });
});
