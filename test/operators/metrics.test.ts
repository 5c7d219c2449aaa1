import assert from 'node:assert/strict';
import { signUp } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { type Scrape, scrape, sumOf } from '../support/metrics.ts';
import { lockTable } from '../support/row-lock.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';
import { makeWebhook } from '../support/webhooks.ts';

const SERIES_MAX = 10_000;

describe('metrics of a running system', () => {
  const system = useProcesses({ webs: 0, workers: 0, env: { MODEL_PRICES: 'fake-model=0.15:0.6' } });
  let ports: { web: number; worker: number };
  before(async () => {
    ports = { web: await freePort(), worker: await freePort() };
    await system.startWeb({ OPERATOR_PORT: String(ports.web) });
    await system.startWorker({ OPERATOR_PORT: String(ports.worker) });
  });

  it('metrics count requests by route, status and code, and no label contains text that a client chose', async () => {
    const app = await system.app();
    assert.equal((await app.predict(predictionBody())).status, 200);
    assert.equal((await app.predict({})).status, 422);
    for (let n = 0; n < 50; n += 1) await fetch(`${app.url}/v1/nowhere/${n}`);
    await fetch(`${app.url}/v1/predictions/of-a-client/cancel`, { method: 'LOCK' });
    const web = await scrape(ports.web);
    const predictions = { method: 'POST', route: '/v1/predictions' };
    assert.equal(sumOf(web, 'forecue_http_requests_total', { ...predictions, status: '200' }), 1);
    assert.equal(sumOf(web, 'forecue_http_requests_total', { ...predictions, code: 'validation_error' }), 1);
    assert.equal(sumOf(web, 'forecue_http_requests_total', { route: 'none', code: 'not_found' }), 50);
    assert.equal(sumOf(web, 'forecue_http_request_duration_seconds_count', predictions), 2);
    assert.equal(
      [...web.keys()].find((series) => /nowhere|of-a-client|LOCK/.test(series)),
      undefined,
    );
  });

  it('metrics count the deliveries to webhooks that wait and that failed, and say how long the first has been due', async () => {
    const person = await signUp(system);
    const webhook = await makeWebhook(person, { url: 'https://receiver.example/', events: ['job.finished'] });
    const add = (state: string, next: string | null) =>
      system.sql(
        `insert into deliveries (id, webhook_id, event, data, state, created_at, tried_from, last_attempt_at, next_attempt_at)
         values (gen_random_uuid(), $1, 'job.finished', '{}', $2, now(), now(), now(), now() + $3::interval)`,
        [webhook.id, state, next],
      );
    // Nothing sends to it: it rests.
    await system.sql(`update webhooks set rests_until = now() + interval '1 hour' where id = $1`, [
      webhook.id,
    ]);
    await add('failed', null);
    for (const next of ['1 hour', '-1 hour']) await add('pending', next);
    const web = await scrape(ports.web);
    assert.equal(sumOf(web, 'forecue_webhook_deliveries', { state: 'pending' }), 2);
    assert.equal(sumOf(web, 'forecue_webhook_deliveries', { state: 'failed' }), 1);
    assert.ok((sumOf(web, 'forecue_webhook_overdue_seconds') ?? 0) >= 3600);
  });

  it('metrics count the stages of a prediction, at the ingress and at the worker', async () => {
    const before = await both();
    const app = await system.app();
    await app.predict(predictionBody());
    const after = await both();
    for (const stage of ['admission', 'queue', 'handler', 'commit', 'wait']) {
      const name = 'forecue_work_stage_duration_seconds_count';
      assert.equal(difference(before, after, name, { kind: 'predict', stage }), 1, stage);
    }
    assert.equal(difference(before, after, 'forecue_work_attempts_total', { end: 'suggested' }), 1);
    await until(async () => difference(before, await both(), 'forecue_outcomes_found_total', {}) === 1);
    assert.equal(sumOf(after.worker, 'forecue_slots_held', { pool: 'predict' }), 0);
  });

  it("metrics of provider calls agree with the provider's own count", async () => {
    const before = await both();
    system.provider.reset();
    const app = await system.app();
    await Promise.all(Array.from({ length: 5 }, () => app.predict(predictionBody())));
    const after = await both();
    const count = 'forecue_provider_call_duration_seconds_count';
    assert.equal(difference(before, after, count, { model: 'fake-model', outcome: 'answered' }), 5);
    assert.equal(system.provider.calls.length, 5);
    assert.ok(difference(before, after, 'forecue_provider_tokens_total', { type: 'input' }) > 0);
    assert.ok(difference(before, after, 'forecue_provider_cost_dollars_total', {}) > 0);
    assert.equal(difference(before, after, 'forecue_work_admissions_total', { decision: 'admitted' }), 5);
    assert.equal(difference(before, after, 'forecue_units_month', { state: 'settled' }), 2 * 5);
  });

  it('metrics show waiting callers, running work and held slots', async () => {
    system.provider.respond(() => {});
    const gone = new AbortController();
    const app = await system.app();
    const call = app.predict(predictionBody(), { signal: gone.signal }).catch(() => undefined);
    await until(async () => {
      const { web, worker } = await both();
      return (
        sumOf(web, 'forecue_callers_waiting') === 1 &&
        sumOf(worker, 'forecue_slots_held', { pool: 'predict' }) === 1 &&
        sumOf(web, 'forecue_work_running', { kind: 'predict' }) === 1
      );
    });
    gone.abort();
    await call;
    system.provider.reset();
  });

  it('metrics show the age of the housekeeping rounds even while a table cannot be read', async () => {
    const locked = await lockTable(system, 'usage');
    try {
      await until(async () => {
        const { web } = await both();
        const age = sumOf(web, 'forecue_housekeeping_round_age_seconds', { step: 'sweep' });
        return age !== undefined && sumOf(web, 'forecue_units_month') === undefined;
      });
    } finally {
      await locked.release();
    }
  });

  it('metrics report how long an account has been under erasure, however often a process renews its lease', async () => {
    const { pool } = system.database;
    // Sets erasing_at in the future, so that no process takes over the erasure.
    await pool.query(
      `insert into accounts (id, email, email_key, password_hash, active, created_at, updated_at, erasing_at)
       values (gen_random_uuid(), '', 'erasing', '', false, now(), now() - interval '2 hours', now() + interval '1 hour')`,
    );
    try {
      const oldest = await until(async () => {
        const { web } = await both();
        return sumOf(web, 'forecue_accounts_erasing') === 1 && sumOf(web, 'forecue_erasure_oldest_seconds');
      });
      assert.ok(oldest >= 7200, `${oldest} s`);
    } finally {
      await pool.query(`delete from accounts where email_key = 'erasing'`);
    }
  });

  it('metrics and heartbeats report how far the clock of a process is ahead', async () => {
    const port = await freePort();
    const late = await system.startWorker({
      OPERATOR_PORT: String(port),
      CLOCK_AHEAD_MS: '60000',
      NODE_OPTIONS: `--import ${new URL('../support/clock-ahead.ts', import.meta.url).href}`,
    });
    const aheadOf = async (of: number) =>
      sumOf(await scrape(of), 'forecue_clock_ahead_seconds') ?? Number.NaN;
    assert.ok((await aheadOf(port)) > 55);
    assert.ok((await aheadOf(ports.web)) < 5);
    await until(async () => {
      const rows = await system.sql<{ ahead: number }>(
        `select max((settings ->> 'clock_ahead_s')::int) as ahead from processes`,
      );
      return (rows[0]?.ahead ?? 0) > 55;
    });
    await late.stop();
  });

  it('metrics have fewer than 10,000 series, and are 404 on the public port', async () => {
    const { web, worker } = await both();
    assert.ok(web.size + worker.size < SERIES_MAX, `${web.size} and ${worker.size} series`);
    assert.equal((await fetch(`${system.webs[0]?.url}/metrics`)).status, 404);
  });

  const both = async () => ({ web: await scrape(ports.web), worker: await scrape(ports.worker) });
});

type Both = { web: Scrape; worker: Scrape };

function sumOfBoth({ web, worker }: Both, name: string, labels: Record<string, string>): number {
  return (sumOf(web, name, labels) ?? 0) + (sumOf(worker, name, labels) ?? 0);
}

function difference(before: Both, after: Both, name: string, labels: Record<string, string>): number {
  return sumOfBoth(after, name, labels) - sumOfBoth(before, name, labels);
}
