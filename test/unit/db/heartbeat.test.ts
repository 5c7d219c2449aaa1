import assert from 'node:assert/strict';
import { openHeartbeat } from '../../../shared/db/processes.ts';
import { createLog } from '../../../shared/log.ts';
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

  const open = () =>
    openHeartbeat(opened, database.pool, {
      kind: 'test',
      leaseMs: 1000 * LEASE_S,
      settings: { version: '0', queue: '', connections: 0 },
      log: createLog('test', 'silent'),
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

  it('a run of heartbeats that began later than now, since the clock was set back, begins anew', async () => {
    const { id } = await open();
    await database.pool.query(
      `update processes set since = now() + interval '1 hour', alive_until = now() + interval '2 hours'
        where id = $1`,
      [id],
    );
    const beaten = `select since <= now() as begun from processes
                     where id = $1 and alive_until < now() + interval '1 hour'`;
    const row = await until(
      async () => (await database.pool.query<{ begun: boolean }>(beaten, [id])).rows[0],
    );
    assert.equal(row.begun, true);
  });
});
