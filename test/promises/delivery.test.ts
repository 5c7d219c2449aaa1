import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { workerConfig } from '../../shared/config/config.ts';
import { type Admission, admit } from '../../shared/db/stores/work/admit.ts';
import { predictionKey } from '../../shared/domain/prediction.ts';
import { newId } from '../../shared/ids.ts';
import { createLog } from '../../shared/log.ts';
import { openQueues } from '../../shared/queue/queues.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { ok, status, when } from '../support/fake-provider.ts';
import { startLostAnswers } from '../support/lost-answers.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { assertUnits } from '../support/units.ts';
import { until, untilDone } from '../support/until.ts';

const TIMEOUT_MS = 60_000;

describe('delivery', () => {
  const system = useSystem({ workers: 2, env: { LEASE_MS: '3000' } });
  beforeEach(() => system.provider.reset());

  /** Admits requests as an ingress does, without adding jobs for them. */
  const admitOnly = (admissions: Admission[], process = newId()) =>
    admit(system.database.pool, admissions, {
      kind: 'predict',
      process,
      outlivesCallers: false,
      timeoutMs: TIMEOUT_MS,
      recoveryWindowS: 600,
      sandboxUnits: 1000,
      unitPriceMicrocents: 1,
    });

  it("work whose ingress died before adding the work's job still runs before its deadline #admitted", async () => {
    const app = await system.app();
    const admitted = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const rows = await system.sql<{ id: string }>(
          `insert into processes (id, kind, alive_until) values ($1, 'web', now() + make_interval(secs => $2)) returning id`,
          [newId(), Math.random() * 3],
        );
        // Half of the ingresses are dead already; the others die within three seconds.
        // Repeats an admission that waited too long for the app's lock, as an ingress does.
        const [one] = await untilDone(() => admitOnly([admission(app)], n % 2 === 0 ? rows[0]?.id : newId()));
        assert.equal(one?.decision, 'admitted');
        return one.id;
      }),
    );
    const rows = await until(async () => {
      const found = await system.database.pool.query<{ state: string; in_time: boolean }>(
        `select state, ended_at <= admitted_at + interval '${TIMEOUT_MS} ms' as in_time from history where id = any ($1)`,
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

  it('work whose job is delivered several times runs once and costs one unit', async () => {
    const app = await system.app();
    const request = admission(app);
    const [one] = await admitOnly([request]);
    const id = one?.id ?? '';
    const deliver = async () => {
      const job = { kind: 'predict', work: [{ party: app.id, ids: [id] }] };
      const config = workerConfig({ DATABASE_URL: system.database.url, ...system.queue.env });
      const queues = await openQueues(config, createLog('test', 'silent'));
      for (let n = 0; n < 3; n += 1) queues.add('predict', [job, job]);
      await queues.close();
      await until(async () => (await system.queue.jobs()) === 0);
    };
    const answer = Promise.withResolvers<void>();
    system.provider.respond(async (response, call) => {
      await answer.promise;
      await ok()(response, call);
    });
    await deliver();
    await system.provider.called(1);
    answer.resolve();
    await until(async () => (await rowOf(system, { request_id: request.facts.requestId })).ended_at);
    await deliver();
    const row = await rowOf(system, { request_id: request.facts.requestId });
    assert.deepEqual([row.state, row.code, row.attempt], ['suggested', null, 1]);
    assert.equal(system.provider.calls.length, 1);
    await assertUnits(app, 1);
  });

  it('jobs of another form than ours, as by hand or of another version, delay no work, and end no worker #bullmq', async () => {
    const app = await system.app();
    const config = workerConfig({ DATABASE_URL: system.database.url, ...system.queue.env });
    const queues = await openQueues(config, createLog('test', 'silent'));
    const works = [
      [{ party: 'not a UUID', ids: [newId()] }],
      [{ party: newId(), ids: ['not a UUID'] }],
      [{ party: newId(), ids: 5 }],
      [{ ids: [newId()] }],
      [null],
      [],
    ];
    for (const work of works) queues.add('predict', [{ kind: 'predict', work } as never]);
    await queues.close();
    await until(async () => (await system.queue.jobs()) === 0);
    const replies = await Promise.all(Array.from({ length: 20 }, () => app.predict(predictionBody())));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    for (const { log } of system.workers) assert.doesNotMatch(log, /could not claim|unhandledRejection/);
  });

  it('work whose claim the database has lost runs again, and its caller gets the answer, for one unit #postgres-failover', async () => {
    const app = await system.app();
    system.provider.respond(when(new Promise(() => {}), ok()));
    const asked = app.predict(predictionBody());
    await system.provider.called(1);
    system.provider.respond(ok());
    await system.database.pool.query(
      `update work set state = 'queued', worker = null, started_at = null where party = $1`,
      [app.id],
    );
    assert.equal((await asked).status, 200);
    await assertUnits(app, 1);
  });

  it("if the database's answer to a claim is lost, the claim is released, and the work runs as the same attempt #lost-commit", async () => {
    const app = await system.app();
    const lock = await system.database.pool.connect();
    let request = admission(app);
    let admitted = 0;
    const isQueued = async () =>
      (await lock.query(`select from work where id = $1 and state = 'queued'`, [request.id])).rowCount === 1;
    const logged = system.workers.map(({ log }) => log.length);
    try {
      // Claims fail while the table is locked, so each worker must assume that its claim may have taken effect. A worker
      // may have claimed the work before.
      do {
        await lock.query('rollback');
        request = admission(app);
        await admitOnly([request]);
        admitted += 1;
        await lock.query('begin');
        await lock.query('lock table work in exclusive mode');
      } while (!(await isQueued()));
      await until(() =>
        system.workers.every(({ log }, n) => log.slice(logged[n]).includes('could not claim')),
      );
      const { rowCount } = await lock.query(
        `update work set state = 'running', started_at = now(),
                worker = (select id from processes where kind = 'worker' and alive_until > now() limit 1)
          where id = $1 and state = 'queued'`,
        [request.id],
      );
      assert.equal(rowCount, 1);
      await lock.query('commit');
    } finally {
      lock.release();
    }
    const row = await until(async () => {
      const found = await rowOf(system, { request_id: request.facts.requestId });
      return found.ended_at !== null && found;
    }, 40_000);
    assert.deepEqual([row.state, row.code, row.attempt], ['suggested', null, 1]);
    assert.equal(system.provider.calls.length, admitted);
    await assertUnits(app, admitted);
  });

  it('repeating a request that got 503 because of lost database answers returns its prediction #lost-commit', async () => {
    await using link = await startLostAnswers(system.database.serviceUrl);
    const web = await system.startWeb({ DATABASE_URL: link.url });
    const app = await system.app();
    const headers = { 'x-on-disconnect': 'cancel' };
    // Fails first: a second attempt keeps the first one's id, which is not the id that its ingress proposes.
    const body = predictionBody();
    const answer = Promise.withResolvers<void>();
    system.provider.next(status(500), async (response, call) => {
      await answer.promise;
      await ok()(response, call);
    });
    assert.equal((await app.predict(body, { at: web })).status, 502);
    link.lose('admit_v1', 2);
    const refused = await app.predict(body, { at: web, headers });
    assert.deepEqual([refused.status, refused.code, link.left], [503, 'service_unavailable', 0]);
    await until(async () => (await rowOf(system, body)).detached_at);
    const again = app.predict(body, { at: web, headers });
    await until(async () => (await rowOf(system, body)).waiters.length === 1);
    answer.resolve();
    const replay = await again;
    assert.deepEqual([replay.status, replay.headers.get('idempotency-replayed')], [200, 'true'], replay.text);
    assert.equal((await rowOf(system, body)).attempt, 2);
  });
});

function admission(app: AppClient): Admission<{ requestId: string; userId: string; minConfidence: number }> {
  const body = predictionBody();
  return {
    id: newId(),
    party: app.id,
    key: predictionKey(app.id, body.request_id),
    userId: body.user_id,
    connectionId: null,
    fingerprint: randomBytes(32),
    line: null,
    facts: { requestId: body.request_id, userId: body.user_id, minConfidence: 0.3 },
    input: JSON.stringify({
      artifact: null,
      language: 'auto',
      messages: [],
      user_preferences: '',
      ...body,
    }),
    wait: false,
    cancelOnDisconnect: false,
  };
}
