import assert from 'node:assert/strict';
import { bookCalls } from '../../shared/db/stores/provider-calls.ts';
import { forget } from '../../shared/db/stores/work/forget.ts';
import { newId } from '../../shared/ids.ts';
import { aCall } from '../support/booked-call.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import {
  delay,
  empty,
  hang,
  html,
  huge,
  json,
  lengthStop,
  message,
  ok,
  refusal,
  reset,
  type Step,
  status,
  truncatedJson,
} from '../support/fake-provider.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('ledger of calls to the provider', () => {
  let system: System;
  before(async () => {
    const env = { MODEL_PRICES: 'other=1:1,fake-model=0.15:0.6', PROVIDER_TIMEOUT_MS: '400' };
    system = await startSystem({ env });
  });
  after(() => system?.stop());
  beforeEach(() => system.provider.reset());

  const rowsOf = async ({ id }: AppClient) => {
    const { rows } = await system.database.pool.query(
      'select * from provider_calls where app_id = $1 order by id',
      [id],
    );
    return rows;
  };
  const booked = (app: AppClient, count = 1) =>
    until(async () => {
      const rows = await rowsOf(app);
      return rows.length >= count && rows;
    });

  it('the ledger of calls to the provider has a row for an answer: whose it is, its tokens, its price, its time', async () => {
    const app = await system.app();
    const before = Date.now();
    system.provider.respond(delay(30));
    await app.predict(predictionBody());
    const [{ id, at, work_id, latency_ms, ...row }] = await booked(app);
    assert.deepEqual(row, {
      account_id: null,
      app_id: app.id,
      kind: 'predict',
      attempt: 1,
      model: 'fake-model',
      input_tokens: 12,
      cached_tokens: 0,
      output_tokens: 5,
      // 12 × 15 + 5 × 60 millionths of a cent.
      cost_microcents: '480',
      aborted: false,
      outcome: 'answered',
    });
    assert.ok(at.getTime() >= before - 1000 && at.getTime() <= Date.now() + 1000);
    assert.ok(latency_ms >= 29 && latency_ms < 400);
    assert.match(id, /^[\da-f-]{36}$/);
    assert.match(work_id, /^[\da-f-]{36}$/);
  });

  const outcomes: [outcome: string, step: Step, tokens: [number, number]][] = [
    ['refused', refusal(), [12, 5]],
    ['cut_off', lengthStop(), [12, 5]],
    ['rate_limited', status(429), [0, 0]],
    ['not_configured', status(401), [0, 0]],
    ['failed', status(500), [0, 0]],
    ['unusable', json({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } }), [7, 3]],
    ['unusable', message({ content: { next: 'no text' } }), [12, 5]],
    ['answered', message({ content: 'not the answer format' }), [12, 5]],
  ];
  for (const [outcome, step, tokens] of outcomes)
    it(`the ledger of calls to the provider has a row for an attempt that ends ${outcome}`, async () => {
      const app = await system.app();
      system.provider.respond(step);
      await app.predict(predictionBody());
      const [row, ...others] = await booked(app);
      assert.deepEqual(
        [row.outcome, row.aborted, row.input_tokens, row.output_tokens],
        [outcome, false, ...tokens],
      );
      // With more room for thoughts once, which does not help.
      assert.equal(others.length, outcome === 'cut_off' ? 1 : 0);
    });

  const unread: [name: string, step: Step][] = [
    ['is cut in the middle', truncatedJson()],
    ['breaks off', reset()],
    ['is too large', huge(2_000_000)],
    ['is empty', empty()],
    ['is a page', html()],
    ['is an error with status 200', json({ error: { message: 'scripted', code: 500 } })],
  ];
  for (const [name, step] of unread)
    it(`the ledger of calls to the provider estimates and flags what an answer costs that ${name}`, async () => {
      const app = await system.app();
      system.provider.respond(step);
      assert.equal((await app.predict(predictionBody())).code, 'provider_failed');
      const [row] = await booked(app);
      assert.deepEqual([row.outcome, row.aborted, row.output_tokens], ['unusable', true, 0]);
      assert.ok(row.input_tokens > 100 && Number(row.cost_microcents) > 0);
    });

  it('the ledger of calls to the provider has a row for each of several attempts, those that timed out with an estimate', async () => {
    const app = await system.app();
    system.provider.next(hang());
    assert.equal((await app.predict(predictionBody())).status, 200);
    const rows = await booked(app, 2);
    assert.deepEqual(
      rows.map(({ outcome, aborted }) => [outcome, aborted]),
      [
        ['timeout', true],
        ['answered', false],
      ],
    );
    assert.equal(rows[0].work_id, rows[1].work_id);
    assert.ok(
      rows[0].input_tokens > 100 && rows[0].output_tokens === 0 && Number(rows[0].cost_microcents) > 0,
    );
  });

  it('the ledger of calls to the provider flags a call that was aborted', async () => {
    const app = await system.app();
    system.provider.respond(hang());
    const body = predictionBody();
    const waiting = app.predict(body);
    await system.provider.called(1);
    await app.cancel(body.request_id, body.user_id);
    assert.equal((await waiting).status, 499);
    const [row] = await booked(app);
    assert.deepEqual([row.outcome, row.aborted], ['aborted', true]);
    assert.ok(row.input_tokens > 100);
  });

  it('the ledger of calls to the provider loses nothing when a worker stops in order', async () => {
    const app = await system.app();
    system.provider.respond(ok());
    const worker = system.workers[0];
    assert.ok(worker);
    await Promise.all(Array.from({ length: 40 }, () => app.predict(predictionBody())));
    await worker.stop();
    assert.equal((await rowsOf(app)).length, system.provider.calls.length);
    await system.startWorker();
  });

  it('the ledger of calls to the provider has no row for a prediction with nothing to work on', async () => {
    const app = await system.app();
    await app.predict(predictionBody({ draft: { text: ' ', revision: 1 } }));
    const marker = await system.app();
    await marker.predict(predictionBody());
    await booked(marker);
    assert.deepEqual(await rowsOf(app), []);
  });

  it('the ledger of calls to the provider forgets calls after 400 days', async () => {
    const appId = newId();
    const daysAgo = (days: number) => idOf(Date.now() - days * 24 * 60 * 60 * 1000);
    const [old, young] = [daysAgo(401), daysAgo(399)];
    await bookCalls(system.database.pool, [
      aCall({ id: old, app_id: appId }),
      aCall({ id: young, app_id: appId }),
    ]);
    await forget(system.database.pool);
    const { rows } = await system.database.pool.query('select id from provider_calls where app_id = $1', [
      appId,
    ]);
    assert.deepEqual(rows, [{ id: young }]);
  });
});

/** An id of that time. */
function idOf(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`;
}
