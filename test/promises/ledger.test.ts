import assert from 'node:assert/strict';
import { addToLedger } from '../../shared/db/stores/provider-calls.ts';
import { deleteOldHistory } from '../../shared/db/stores/work/forget.ts';
import { newId } from '../../shared/ids.ts';
import { bookedCall } from '../support/booked-call.ts';
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
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('provider call ledger', () => {
  const env = { MODEL_PRICES: 'other=1:1,fake-model=0.15:0.6', PROVIDER_TIMEOUT_MS: '1500' };
  const system = useSystem({ env });
  beforeEach(() => system.provider.reset());

  const rowsOf = async ({ id }: AppClient) => {
    const { rows } = await system.database.pool.query(
      'select * from provider_calls where app_id = $1 order by id',
      [id],
    );
    return rows;
  };
  const bookedRows = (app: AppClient, count = 1) =>
    until(async () => {
      const rows = await rowsOf(app);
      return rows.length >= count && rows;
    });

  it('the provider call ledger has a row for an answered call, with its app, model, tokens, cost, time and latency', async () => {
    const app = await system.app();
    const before = Date.now();
    system.provider.respond(delay(30));
    await app.predict(predictionBody());
    const [{ id, at, work_id, latency_ms, ...row }] = await bookedRows(app);
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
    assert.ok(latency_ms >= 29 && latency_ms < 5000);
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
    it(`the provider call ledger has a row with ${tokens[0]} input tokens for a call with the outcome ${outcome}`, async () => {
      const app = await system.app();
      system.provider.respond(step);
      await app.predict(predictionBody());
      const [row, ...others] = await bookedRows(app);
      assert.deepEqual(
        [row.outcome, row.aborted, row.input_tokens, row.output_tokens],
        [outcome, false, ...tokens],
      );
      // A cut-off answer is retried once with a higher token limit; this provider cuts off the second answer too.
      assert.equal(others.length, outcome === 'cut_off' ? 1 : 0);
    });

  const unread: [name: string, step: Step][] = [
    ['is truncated JSON', truncatedJson()],
    ['breaks off', reset()],
    ['is too large', huge(2_000_000)],
    ['is empty', empty()],
    ['is an HTML page', html()],
    ['is an error with status 200', json({ error: { message: 'scripted', code: 500 } })],
  ];
  for (const [name, step] of unread)
    it(`the provider call ledger estimates the cost of a call, and sets its aborted flag, if the provider's answer ${name}`, async () => {
      const app = await system.app();
      system.provider.respond(step);
      assert.equal((await app.predict(predictionBody())).code, 'provider_failed');
      const [row] = await bookedRows(app);
      assert.deepEqual([row.outcome, row.aborted, row.output_tokens], ['unusable', true, 0]);
      assert.ok(row.input_tokens > 100 && Number(row.cost_microcents) > 0);
    });

  it('the provider call ledger has a row for each call of a prediction, with estimated tokens after a timeout', async () => {
    const app = await system.app();
    system.provider.next(hang());
    assert.equal((await app.predict(predictionBody())).status, 200);
    const rows = await bookedRows(app, 2);
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

  it('the provider call ledger sets the aborted flag on the call of a cancelled prediction', async () => {
    const app = await system.app();
    system.provider.respond(hang());
    const body = predictionBody();
    const waiting = app.predict(body);
    await system.provider.called(1);
    await app.cancel(body.request_id, body.user_id);
    assert.equal((await waiting).status, 499);
    const [row] = await bookedRows(app);
    assert.deepEqual([row.outcome, row.aborted], ['aborted', true]);
    assert.ok(row.input_tokens > 100);
  });

  it('the provider call ledger loses no call when a worker shuts down', async () => {
    const app = await system.app();
    system.provider.respond(ok());
    const worker = system.workers[0];
    assert.ok(worker);
    await Promise.all(Array.from({ length: 40 }, () => app.predict(predictionBody())));
    await worker.stop();
    assert.equal((await rowsOf(app)).length, system.provider.calls.length);
    await system.startWorker();
  });

  it('the provider call ledger keeps calls for 400 days, and then deletes them', async () => {
    const appId = newId();
    const daysAgo = (days: number) => idOf(Date.now() - days * 24 * 60 * 60 * 1000);
    const [old, young] = [daysAgo(401), daysAgo(399)];
    await addToLedger(system.em(), [
      bookedCall({ id: old, appId: appId }),
      bookedCall({ id: young, appId: appId }),
    ]);
    await deleteOldHistory(system.database.pool);
    const { rows } = await system.database.pool.query('select id from provider_calls where app_id = $1', [
      appId,
    ]);
    assert.deepEqual(rows, [{ id: young }]);
  });
});

function idOf(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`;
}
