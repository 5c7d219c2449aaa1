import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { hang } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { assertUnits } from '../support/units.ts';
import { until } from '../support/until.ts';

const MEASURED_MS = 60_000;
/** A minute without work, and what else may keep a process awake at its start. */
const RESTS_WITHIN_MS = 200_000;

describe('a minute without work', function () {
  this.timeout(600_000);
  const system = useSystem({
    apart: true,
    workers: 2,
    env: { LEASE_MS: '5000', PREDICTION_TIMEOUT_MS: '60000', PROVIDER_TIMEOUT_MS: '60000' },
  });

  const countOf = async (condition: string) => {
    const rows = await system.sql<{ n: number }>(
      `select count(*)::int as n from processes where is_alive(alive_until) and ${condition}`,
    );
    return rows[0]?.n;
  };
  const resting = () => countOf(`settings @> '{"resting": true}'`);
  const untilAllRest = () => until(async () => (await resting()) === 3, RESTS_WITHIN_MS);

  const transactions = async () => {
    const rows = await system.sql<{ n: number }>(
      'select (xact_commit + xact_rollback)::float8 as n from pg_stat_database where datname = current_database()',
    );
    return rows[0]?.n ?? Number.NaN;
  };

  it('after a minute without work an ingress and two workers send fewer than three statements in two seconds', async () => {
    await untilAllRest();
    const before = await transactions();
    await sleep(MEASURED_MS);
    const sent = (await transactions()) - before;
    assert.ok(sent < (MEASURED_MS / 1000) * 1.5, `${sent} transactions in a minute`);
  });

  it('work that comes to processes at rest wakes all of them, and outlives its worker #worker-dies', async () => {
    const app = await system.app();
    await untilAllRest();
    system.provider.next(hang());
    const waiting = app.predict(predictionBody());
    await system.provider.called(1);
    await until(async () => (await resting()) === 0, 5000);
    const rows = await system.sql<{ pid: number }>(
      `select (settings ->> 'pid')::int as pid from processes p join work w on w.worker = p.id`,
    );
    process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
    const reply = await waiting;
    assert.equal(reply.status, 200, reply.text);
    assert.equal(system.provider.calls.length, 2);
    await assertUnits(app, 1);
  });
});
