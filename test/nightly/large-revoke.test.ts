import assert from 'node:assert/strict';
import { admit } from '../../shared/db/stores/work/admit.ts';
import { predictionKey } from '../../shared/domain/prediction.ts';
import { newId } from '../../shared/ids.ts';
import { admissionTerms } from '../../shared/work/admission.ts';
import { predict } from '../../shared/work/kinds.ts';
import { signUp } from '../support/account.ts';
import { AppClient, predictionBody } from '../support/client.ts';
import { connect, connectingApp, revoke } from '../support/connection.ts';
import { largestDelete, noteDeletes } from '../support/deletes.ts';
import { lockRow, untilLocked } from '../support/row-lock.ts';
import { type System, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const QUEUED_PREDICTIONS = 2500;
const BATCH_SIZE = 100;
const STEP_ROWS = 1000;

describe('revoke during a repair', () => {
  const system = useSystem({ workers: 0 });

  it('revoking a connection also ends a prediction that is being taken over from a dead worker', async () => {
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, await signUp(system));
    await queue(system, app, connection_id, 1);
    const { pool } = system.database;
    const repair = await pool.connect();
    await repair.query('begin');
    await repair.query('update work set attempt = attempt + 1 where connection_id = $1', [connection_id]);
    const revoked = revoke(app, connection_id);
    await untilLocked(system, 'complete_v1');
    await repair.query('commit');
    repair.release();
    assert.equal((await revoked).status, 200);
    const codes = await until(async () => {
      const { rows } = await pool.query('select code from history where connection_id = $1', [connection_id]);
      return rows.length > 0 && rows;
    }, 20_000);
    assert.deepEqual(codes, [{ code: 'connection_revoked' }]);
  });
});

describe('large revoke', () => {
  const system = useSystem({
    apart: true,
    webs: 2,
    workers: 0,
    env: { SANDBOX_UNITS: '100000', LEASE_MS: '3000' },
  });
  let app: AppClient;
  let connectionId: string;
  before(() => noteDeletes(system));
  beforeEach(async () => {
    app = await connectingApp(system);
    connectionId = (await connect(system, app, await signUp(system))).connection_id;
    await queue(system, app, connectionId);
  });

  const countQueued = async () => {
    const rows = await system.sql('select from work where connection_id = $1', [connectionId]);
    return rows.length;
  };
  const assertAllEnded = async () => {
    await until(async () => (await countQueued()) === 0, 20_000);
    const rows = await system.sql(
      `select code, count(*)::int as count from history where connection_id = $1 group by code`,
      [connectionId],
    );
    assert.deepEqual(rows, [{ code: 'connection_revoked', count: QUEUED_PREDICTIONS }]);
    assert.equal((await app.usage()).body.reserved_units, 0);
  };

  it('revoking a connection ends thousands of queued predictions, at most a thousand per statement', async () => {
    assert.equal((await revoke(app, connectionId)).status, 200);
    const refused = await app.predict(predictionBody({ connection_id: connectionId }));
    assert.equal(refused.code, 'connection_revoked');
    await assertAllEnded();
    assert.ok((await largestDelete(system)) <= STEP_ROWS);
  });

  it('revoking a connection ends thousands of queued predictions, even if the revoking ingress dies halfway', async () => {
    const [victim, survivor] = system.webs;
    const last = 'id = (select id from work where connection_id = $1 order by id desc limit 1)';
    const lock = await lockRow(system, 'work', last, [connectionId]);
    const cutOff = revoke(app, connectionId).catch(() => undefined);
    await until(async () => (await countQueued()) < QUEUED_PREDICTIONS);
    await victim?.kill();
    await cutOff;
    assert.ok((await countQueued()) > 0);
    await lock.release();
    app = new AppClient(app.id, app.key, survivor?.url ?? '');
    await assertAllEnded();
  });
});

/** Queues predictions for the app's user. They stay queued although no caller waits for them. */
async function queue(
  { database: { pool } }: System,
  app: AppClient,
  connectionId: string,
  count = QUEUED_PREDICTIONS,
): Promise<void> {
  const units = { sandboxUnits: 100_000, unitPriceMicrocents: 200_000 };
  const terms = admissionTerms(
    { ...predict, outlivesCallers: true },
    {
      process: newId(),
      timeoutMs: 600_000,
      recoveryWindowS: 600,
      units,
    },
  );
  for (let queued = 0; queued < count; queued += BATCH_SIZE) {
    const admissions = Array.from({ length: Math.min(BATCH_SIZE, count) }, () => {
      const id = newId();
      return {
        id,
        party: app.id,
        key: predictionKey(app.id, id),
        fingerprint: Buffer.from(id),
        userId: 'u-1',
        connectionId,
        line: null,
        wait: false,
        cancelOnDisconnect: false,
        facts: {},
        input: '{}',
      };
    });
    await admit(pool, admissions, terms);
  }
}
