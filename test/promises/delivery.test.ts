import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { workerConfig } from '../../shared/config/config.ts';
import { type Admission, admit } from '../../shared/db/stores/predictions/admit.ts';
import { newId } from '../../shared/ids.ts';
import { openQueues } from '../../shared/jobs/backend.ts';
import { createLog } from '../../shared/log.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { ok } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const TIMEOUT_MS = 10_000;

describe('delivery', () => {
  let system: System;
  before(async () => {
    system = await startSystem({ workers: 2, env: { LEASE_MS: '3000' } });
  });
  after(() => system.stop());
  beforeEach(() => system.provider.reset());

  /** What an ingress does before it queues. */
  const admitOnly = (admissions: Admission[], process = newId()) =>
    admit(system.database.pool, admissions, {
      process,
      timeoutMs: TIMEOUT_MS,
      recoveryWindowS: 600,
      sandboxUnits: 1000,
      unitPriceMicrocents: 1,
    });

  const assertUnits = async (app: AppClient, units: number) => {
    const { body } = await app.usage();
    assert.deepEqual([body.prediction_units, body.reserved_units], [units, 0]);
  };

  it('what was admitted but never queued, because its ingress died in between, still runs inside its deadline', async () => {
    const app = await system.app();
    const admitted = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const { rows } = await system.database.pool.query<{ id: string }>(
          `insert into processes (id, kind, alive_until) values ($1, 'web', now() + make_interval(secs => $2)) returning id`,
          [newId(), Math.random() * 3],
        );
        // Half of the ingresses are gone already, the others live on for a moment.
        const [one] = await admitOnly([admission(app)], n % 2 === 0 ? rows[0]?.id : newId());
        assert.equal(one?.outcome, 'admitted');
        return one.predictionId;
      }),
    );
    const rows = await until(async () => {
      const found = await system.database.pool.query<{ state: string; in_time: boolean }>(
        `select state, ended_at <= deadline_at as in_time from predictions where id = any ($1) and ended_at is not null`,
        [admitted],
      );
      return found.rows.length === 200 && found.rows;
    }, TIMEOUT_MS + 2000);
    assert.deepEqual(
      rows.filter((row) => row.state !== 'suggested' || !row.in_time),
      [],
    );
    assert.equal(system.provider.calls.length, 200);
    await assertUnits(app, 200);
  });

  it('of the same job, however often, runs it once and charges one unit', async () => {
    const app = await system.app();
    const request = admission(app);
    const [one] = await admitOnly([request]);
    const id = one?.predictionId ?? '';
    const queues = await openQueues(
      workerConfig({ DATABASE_URL: system.database.url, ...system.queue.env }),
      createLog('test', 'silent'),
    );
    const queue = queues.queue('predict');
    const times = [...Array.from({ length: 5 }, () => [id]), [id, id]];
    const deliver = () => queue.add(times.map((ids) => ({ payload: { ids }, turn: 1 })));
    const answer = Promise.withResolvers<void>();
    system.provider.respond(async (response, call) => {
      await answer.promise;
      await ok()(response, call);
    });
    try {
      await deliver();
      await system.provider.called(1);
      // All deliveries but the one that runs it have come to nothing.
      await until(async () => (await system.queue.jobs()) === 1);
      answer.resolve();
      await until(async () => (await rowOf(system, { request_id: request.requestId })).ended_at);
      await deliver();
      await until(async () => (await system.queue.jobs()) === 0);
    } finally {
      await queues.close();
    }
    const row = await rowOf(system, { request_id: request.requestId });
    assert.deepEqual([row.state, row.attempt], ['suggested', 1]);
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 1);
  });

  it('that a worker took without knowing it is given back and run, as the same attempt', async () => {
    const app = await system.app();
    const request = admission(app);
    await admitOnly([request]);
    const { rowCount } = await system.database.pool.query(
      `update predictions set state = 'running', started_at = now(),
              worker = (select id from processes where kind = 'worker' and alive_until > now() limit 1)
        where request_id = $1 and state = 'queued'`,
      [request.requestId],
    );
    assert.equal(rowCount, 1);
    const row = await until(async () => {
      const found = await rowOf(system, { request_id: request.requestId });
      return found.ended_at !== null && found;
    });
    assert.deepEqual([row.state, row.attempt], ['suggested', 1]);
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 1);
  });
});

function admission(app: AppClient): Admission {
  const body = predictionBody();
  return {
    id: newId(),
    appId: app.id,
    requestId: body.request_id,
    userId: body.user_id,
    sessionId: body.session_id,
    mode: body.mode,
    connectionId: null,
    fingerprint: randomBytes(32),
    draftRevision: body.draft.revision,
    textHash: randomBytes(32),
    contextRevision: body.context_revision,
    request: JSON.stringify({
      artifact: null,
      language: 'auto',
      messages: [],
      user_preferences: '',
      ...body,
    }),
    wait: false,
    cancelOnDisconnect: false,
    overloaded: false,
  };
}
