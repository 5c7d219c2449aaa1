import assert from 'node:assert/strict';
import { pausePools } from '../../shared/db/stores/work/operate.ts';
import type { BatchResponse } from '../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { predictionBody, type Reply } from '../support/client.ts';
import { bySchema, hang, type Step, when } from '../support/fake-provider.ts';
import type { HostedPart } from '../support/hosted.ts';
import { pluck } from '../support/pluck.ts';
import { promote, say } from '../support/promotion.ts';
import { echoPrompt, forPrompts, inputsOf, predictBatch, promptIn } from '../support/replies.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const ENTRY = ['workers/main.ts', 'batch'];

describe('batch', () => {
  let system: System<HostedPart>;
  let ann: UserClient;
  afterEach(() => system?.stop());

  const startWith = async (env: Record<string, string>) => {
    system = await startSystem({ apart: true, workerEntry: ENTRY, env });
    ann = await signUp(system);
    system.provider.respond(echoPrompt);
  };
  const callCounts = () => {
    const counts = new Map<string, number>();
    for (const call of system.provider.calls)
      counts.set(promptIn(call), (counts.get(promptIn(call)) ?? 0) + 1);
    return counts;
  };
  const assertWhole = ({ status, body }: Reply<BatchResponse>, inputs: string[]) => {
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      body.results.map((item) => ('prediction' in item ? item.prediction.predicted_response : item.error)),
      inputs.map((input) => `Re: ${input}`),
    );
  };

  it('a batch completes when a worker that runs some of its predictions is killed, and neither loses nor repeats finished ones #batch-crash', async () => {
    await startWith({ LEASE_MS: '3000', BATCH_CONCURRENCY: '3' });
    const inputs = inputsOf(24);
    const answered = Promise.withResolvers<void>();
    const late = (prompt: string) => Number(prompt.match(/\d+/)) >= 12;
    system.provider.respond(forPrompts(late, when(answered.promise, echoPrompt), echoPrompt));
    const waiting = predictBatch(ann, inputs);
    // The first worker begins the batch, and is killed.
    await system.provider.called(1);
    await system.startWorker();
    // The first half of the prompts is done, and each worker runs some of the second half.
    await until(() => system.provider.running === 6);
    const done = system.provider.calls.filter(({ finishedAt }) => finishedAt !== null).map(promptIn);
    assert.equal(done.length, 12);
    const [killed] = system.workers.splice(0, 1);
    await killed?.kill();
    // Waits until the work of the killed worker is queued again.
    await until(
      async () =>
        (await system.sql(`select from work where kind = 'batch_reply' and state = 'running'`)).length === 3,
    );
    answered.resolve();
    assertWhole(await waiting, inputs);
    const counts = callCounts();
    for (const prompt of done) assert.equal(counts.get(prompt), 1, prompt);
    assert.equal(system.provider.calls.length, inputs.length + 3);
  });

  it('when a worker that runs predictions of a batch is told to stop, the batch completes, and repeats no model call', async () => {
    await startWith({ BATCH_CONCURRENCY: '2', PROVIDER_TIMEOUT_MS: '60000' });
    const answered = Promise.withResolvers<void>();
    system.provider.respond(when(answered.promise, echoPrompt));
    const waiting = predictBatch(ann, inputsOf(10));
    await system.provider.called(2);
    const [old] = system.workers.splice(0, 1);
    await system.startWorker();
    const stopped = old?.stop();
    await until(async () => {
      const rows = await system.sql<{ workers: number }>(
        `select count(distinct worker)::int as workers from work where state = 'running'`,
      );
      return rows[0]?.workers === 2;
    });
    answered.resolve();
    assertWhole(await waiting, inputsOf(10));
    await stopped;
    assert.equal(system.provider.calls.length, 10);
  });

  it('a batch that reaches its deadline is 200, with finished predictions and an error for each unfinished one #batch-failure', async () => {
    await startWith({ BATCH_TIMEOUT_MS: '3000', BATCH_CONCURRENCY: '4' });
    // One party gets at most three of the four slots, so the model is never asked about some prompts.
    const hanging = (prompt: string) => prompt !== 'Prompt 0?';
    system.provider.respond(forPrompts(hanging, hang(), echoPrompt));
    const waiting = predictBatch(ann, inputsOf(6));
    await system.provider.called(4);
    await pausePools(system.database.pool, ['batch']);
    const { status, body } = await waiting;
    assert.deepEqual([status, body.succeeded, body.failed], [200, 1, 5]);
    assert.deepEqual(
      body.results.slice(1).map((item) => 'error' in item && item.error.code),
      Array.from({ length: 5 }, () => 'prediction_timeout'),
    );
    await until(() => system.provider.running === 0);
  });

  it('a batch gives up on a prompt after the timeout of a single prediction', async () => {
    await startWith({ REPLY_TIMEOUT_MS: '3000', PROVIDER_TIMEOUT_MS: '2500' });
    system.provider.respond(forPrompts((prompt) => prompt === 'Prompt 1?', hang(), echoPrompt));
    const { status, body } = await predictBatch(ann, inputsOf(3));
    assert.deepEqual([status, body.succeeded], [200, 2]);
    assert.deepEqual(body.results[1], { index: 1, error: { code: 'prediction_timeout' } });
  });

  it('a batch holds no slot while it waits for its predictions, so four concurrent batches can share one slot #batch-turns', async () => {
    await startWith({ BATCH_CONCURRENCY: '1' });
    const bob = await signUp(system);
    const all = await Promise.all([ann, bob, ann, bob].map((person) => predictBatch(person, inputsOf(4))));
    for (const one of all) assertWhole(one, inputsOf(4));
  });

  it('a prediction is answered while batches hold all their slots, and a batch while promotions hold all of theirs #pools', async () => {
    const env = { BATCH_CONCURRENCY: '1', MEMORY_CONCURRENCY: '1', BATCH_TIMEOUT_MS: '10000' };
    system = await startSystem({ apart: true, workerEntry: ['workers/main.ts', 'all'], env });
    ann = await signUp(system);
    const others = [await signUp(system), await signUp(system)];
    for (const one of others) await say(one, ['I like tea.']);
    system.provider.respond(bySchema({ episode: hang(), reply: echoPrompt }));
    for (const one of others) promote(one, 'episodes').catch(() => {});
    await system.provider.called(1);
    assertWhole(await predictBatch(ann, inputsOf(2)), inputsOf(2));
    system.provider.respond(bySchema({ reply: hang() }));
    predictBatch(ann, inputsOf(2)).catch(() => {});
    await system.provider.called(4);
    const app = await system.app();
    assert.equal((await app.predict(predictionBody())).status, 200);
    const running = `select from work where party = any ($1) and state = 'running'`;
    assert.equal((await system.sql(running, [pluck(others, 'id')])).length, 1);
  });

  it("a small batch is answered long before another account's large batch that started earlier #batch-turns", async () => {
    await startWith({ BATCH_CONCURRENCY: '1' });
    const bob = await signUp(system);
    let open = Promise.withResolvers<void>();
    const inTurn: Step = (response, call) => when(open.promise, echoPrompt)(response, call);
    system.provider.respond(inTurn);
    const many = predictBatch(ann, inputsOf(60));
    await system.provider.called(1);
    const few = predictBatch(
      bob,
      inputsOf(3).map((input) => `Bob: ${input}`),
    );
    await until(async () => {
      const { rowCount } = await system.database.pool.query(
        `select from work where kind = 'predict_batch' and state = 'queued'`,
      );
      return rowCount === 1;
    });
    open.resolve();
    open = Promise.withResolvers();
    open.resolve();
    assert.equal((await few).body.succeeded, 3);
    const order = system.provider.calls.map(promptIn);
    assert.ok(order.findLastIndex((prompt) => prompt.startsWith('Bob')) < 20, order.join());
    assert.equal((await many).body.succeeded, 60);
  });
});
