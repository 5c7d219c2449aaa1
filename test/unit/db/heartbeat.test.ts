import assert from 'node:assert/strict';
import { openHeartbeat } from '../../../shared/db/processes.ts';
import { newId } from '../../../shared/ids.ts';
import { createLog } from '../../../shared/log.ts';
import { Rest } from '../../../shared/timing/rest.ts';
import { useDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

const LEASE_S = 60;

describe('heartbeat', () => {
  const database = useDatabase();
  let opened: AsyncDisposableStack;
  beforeEach(() => {
    opened = new AsyncDisposableStack();
  });
  afterEach(() => opened.disposeAsync());

  const open = (log = createLog('test', 'silent'), rest = new Rest()) =>
    openHeartbeat(opened, database.pool, {
      rest,
      kind: 'test',
      leaseMs: 1000 * LEASE_S,
      settings: { version: '0', queue: '', connections: 0 },
      port: 0,
      log,
    });

  /** Opens a heartbeat whose latest beat was `seconds` ago; returns whether its next beat continues the run. */
  async function isUnbrokenAfter(seconds: number): Promise<boolean> {
    const { id } = await open();
    await database.pool.query(
      `update processes set since = now() - interval '1 hour', alive_until = now() + make_interval(secs => $2)
        where id = $1`,
      [id, LEASE_S - seconds],
    );
    const beaten = `select since < now() - interval '30 minutes' as unbroken from processes
                     where id = $1 and alive_until > now() + make_interval(secs => $2)`;
    const row = await until(
      async () => (await database.pool.query<{ unbroken: boolean }>(beaten, [id, LEASE_S - 5])).rows[0],
    );
    return row.unbroken;
  }

  it('a heartbeat after a silence of more than half a lease, and no shorter one, begins a new run of heartbeats', async () => {
    assert.equal(await isUnbrokenAfter(LEASE_S / 2 - 10), true);
    assert.equal(await isUnbrokenAfter(LEASE_S / 2 + 10), false);
  });

  const storedOf = async (id: string) =>
    (
      await database.pool.query<{ resting: boolean; run: number }>(
        `select (settings ->> 'resting')::boolean as resting, extract(epoch from now() - since)::float8 as run
           from processes where id = $1`,
        [id],
      )
    ).rows[0];

  it('a process rests when nothing has been to do, and begins a new run of heartbeats when it wakes', async () => {
    const rest = new Rest(200);
    const { id } = await open(undefined, rest);
    await until(() => rest.isResting);
    await database.pool.query(`update processes set since = now() - interval '1 hour' where id = $1`, [id]);
    assert.equal((await storedOf(id))?.resting, true);
    rest.hear();
    const woken = await until(async () => {
      const stored = await storedOf(id);
      return stored !== undefined && stored.run < 60 ? stored : undefined;
    });
    assert.equal(woken.resting, false);
  });

  it('a process does not rest while the database holds work', async () => {
    const rest = new Rest(200);
    const heartbeat = await open(undefined, rest);
    await until(() => rest.isResting);
    const id = newId();
    await database.pool.query(
      `insert into work (
         id, kind, party, key, queued_at, state, attempt, admission, fingerprint, supersedable, worker, waiters,
         cancel_on_disconnect, admitted_at, deadline_at, facts, input)
       values ($1, 'predict', $1, $1, now(), 'running', 1, $1, '', false, $1, '{}', false, now(), now() + '1 hour', '{}', '')`,
      [id],
    );
    try {
      await heartbeat.serve(() => ({}));
      assert.equal(rest.isResting, false);
      assert.equal((await storedOf(heartbeat.id))?.resting, false);
    } finally {
      await database.pool.query('delete from work where id = $1', [id]);
    }
  });

  it('a run of heartbeats that began later than now, since the clock was set back, begins anew', async () => {
    const { id } = await open();
    await database.pool.query(
      `update processes set since = now() + interval '1 hour', alive_until = now() + interval '2 hours'
        where id = $1`,
      [id],
    );
    const beaten = `select since < now() + interval '30 minutes' as begun from processes
                     where id = $1 and alive_until < now() + interval '1 hour'`;
    const row = await until(
      async () => (await database.pool.query<{ begun: boolean }>(beaten, [id])).rows[0],
    );
    assert.equal(row.begun, true);
  });
});
