import assert from 'node:assert/strict';
import type { JobReceipt, JobResponse } from '../../../shared/schemas/jobs.ts';
import type { BatchItem, BatchResponse, ReplyDetail, ReplyList } from '../../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import * as fake from '../../support/fake-provider.ts';
import { add } from '../../support/memory.ts';
import { pluck } from '../../support/pluck.ts';
import {
  BATCH,
  batchBody,
  echoPrompt,
  feedback,
  forPrompts,
  inputsOf,
  predictBatch,
  promptIn,
} from '../../support/replies.ts';
import { lockAdmissions, untilLocked } from '../../support/row-lock.ts';
import { useSystem } from '../../support/system.ts';
import { whileFrozen } from '../../support/time-travel.ts';
import { until } from '../../support/until.ts';

const FIELDS = ['failed', 'latency_ms', 'results', 'succeeded', 'usage'];
const PREDICTION = `candidates confidence id k latency_ms model predicted_response reasoning status threshold usage`;

const LONG_PROMPT = `I have refactored the payment module: extracted the currency converter, renamed the invoice builder,
removed duplicated rounding helpers, added coverage for Swiss francs, updated snapshots, regenerated fixtures, bumped the
linter, fixed every warning, and rewrote the migration guide for integrators. Anything left before opening the review?`;

describe('reply batches', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'batch'],
    env: { SUPPORTED_MODELS: 'fake-model,local', MAX_K: '3', BATCH_CONCURRENCY: '8' },
  });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
    system.provider.reset();
    system.provider.respond(echoPrompt);
  });

  const texts = ({ results }: BatchResponse) =>
    results.map((item) => ('prediction' in item ? item.prediction.predicted_response : item.error.code));
  const idsIn = ({ results }: BatchResponse) =>
    results.flatMap((item) => ('prediction' in item ? item.prediction.id : []));
  const start = async (inputs: readonly string[], headers: Record<string, string> = {}) => {
    const prefer = { prefer: 'respond-async', ...headers };
    const reply = await predictBatch<JobReceipt>(ann, inputs, { headers: prefer });
    assert.equal(reply.status, 202, reply.text);
    return `/api/jobs/${reply.body.job_id}/`;
  };
  const read = async (path: string) => (await ann.get<JobResponse>(path)).body;
  const untilEnded = (path: string) =>
    until(async () => {
      const job = await read(path);
      return job.finished_at !== null && job;
    });

  it('a reply batch returns its items in order, with the eleven fields of a prediction', async () => {
    const inputs = inputsOf(30);
    const { status, body } = await predictBatch(ann, inputs, { part: { k: 2, threshold: 0.3 } });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), FIELDS);
    assert.deepEqual(
      pluck(body.results, 'index'),
      inputs.map((_, n) => n),
    );
    assert.deepEqual(
      texts(body),
      inputs.map((input) => `Re: ${input}`),
    );
    assert.deepEqual([body.succeeded, body.failed], [30, 0]);
    assert.deepEqual(body.usage, { input_tokens: 30 * 12, output_tokens: 30 * 5 });
    const [first] = body.results;
    assert.ok(first !== undefined && 'prediction' in first);
    assert.deepEqual(Object.keys(first.prediction).sort().join(' '), PREDICTION);
    const { k, threshold, status: decision, model } = first.prediction;
    assert.deepEqual([k, threshold, decision, model], [2, 0.3, 'escalated', 'fake-model']);
  });

  it('the predictions of a reply batch can be listed and read, and take feedback', async () => {
    const prompts = [{ agent: 'coder', agent_input: 'Prompt 0?', session_id: 's-1' }];
    const { body } = await ann.post<BatchResponse>(BATCH, { prompts });
    const [id = ''] = idsIn(body);
    const { body: list } = await ann.get<ReplyList>('/api/predictions/?session_id=s-1');
    assert.deepEqual(
      list.results.map((one) => one.id),
      [id],
    );
    const { body: stored } = await ann.get<ReplyDetail>(`/api/predictions/${id}/`);
    assert.deepEqual([stored.agent_input, stored.error], ['Prompt 0?', null]);
    assert.equal((await feedback(ann, { id }, { status: 'accepted' })).body.status, 'accepted');
  });

  it('a reply batch has an error for each prompt that fails, and predictions for the others #batch-failure', async () => {
    const inputs = inputsOf(20);
    const failing = ['Prompt 3?', 'Prompt 7?', 'Prompt 19?'];
    system.provider.respond(forPrompts((one) => failing.includes(one), fake.status(500), echoPrompt));
    const { status, body } = await predictBatch(ann, inputs);
    assert.deepEqual([status, body.succeeded, body.failed], [200, 17, 3]);
    assert.deepEqual(
      texts(body),
      inputs.map((input) => (failing.includes(input) ? 'provider_failed' : `Re: ${input}`)),
    );
    const { body: list } = await ann.get<ReplyList>('/api/predictions/?status=pending');
    assert.deepEqual(
      pluck(list.results, 'error'),
      failing.map(() => 'provider_failed'),
    );
  });

  it('a reply batch gets 200 even if all its prompts fail', async () => {
    system.provider.respond(fake.status(401));
    const { status, body } = await predictBatch(ann, inputsOf(3));
    assert.deepEqual([status, body.succeeded, body.failed], [200, 0, 3]);
    assert.deepEqual(new Set(texts(body)), new Set(['provider_not_configured']));
    assert.deepEqual(body.usage, { input_tokens: 0, output_tokens: 0 });
  });

  it('a reply batch sends the model the same memory with every prompt, even with the longest', async () => {
    const fact = await add(ann, 'facts', { text: 'Paints everything blue' });
    for (const [n, colour] of ['blue', 'red', 'green'].entries()) {
      const said = { session_id: `s-${n}`, agent: 'coder' };
      await add(ann, 'raw', { ...said, content: `Prompt ${n}?`, kind: 'prompt' });
      await add(ann, 'raw', { ...said, content: colour, kind: 'reply' });
    }
    const inputs = [...inputsOf(3), `${'long '.repeat(6000)}?`];
    const { body } = await predictBatch(ann, inputs);
    assert.equal(body.succeeded, 4);
    const messages = system.provider.calls.map((call) => call.body.messages ?? []);
    assert.equal(new Set(messages.map((all) => JSON.stringify(all.slice(0, -1)))).size, 1);
    assert.match(messages[0]?.at(-2)?.content ?? '', /Paints everything blue/);
    // Examples are chosen for each prompt, and sent in the prompt's own message.
    const first = system.provider.calls.find((call) => promptIn(call) === 'Prompt 0?');
    assert.match(JSON.stringify(first?.record), /"reply":"blue"/);
    const details = await Promise.all(
      idsIn(body).map((id) => ann.get<ReplyDetail>(`/api/predictions/${id}/`)),
    );
    const contexts = details.map((detail) => detail.body.context);
    assert.deepEqual(
      contexts.map((context) => context?.fact_ids),
      inputs.map(() => [fact.id]),
    );
    assert.equal(new Set(contexts.map((context) => context?.memory_revision)).size, 1);
  });

  it('a reply batch finds the fact that its first prompt asks for, however long the other prompt is', async () => {
    const fact = await add(ann, 'facts', { text: 'Names the staging server heron' });
    for (let n = 0; n < 30; n += 1) await add(ann, 'facts', { text: `Likes hobby number ${n}` });
    const asked = 'Which name shall the staging server get in the config?';
    const { body } = await predictBatch<BatchResponse>(ann, [asked, LONG_PROMPT]);
    const [first] = body.results;
    assert.ok(first && 'prediction' in first);
    const { context } = (await ann.get<ReplyDetail>(`/api/predictions/${first.prediction.id}/`)).body;
    assert.ok(context?.fact_ids.includes(fact.id));
  });

  it('a reply batch uses no memory that is deleted or added while it runs', async () => {
    const [gone, left] = [
      await add(ann, 'facts', { text: 'Paints everything blue' }),
      await add(ann, 'facts', { text: 'Never works on Fridays' }),
    ];
    const answered = Promise.withResolvers<void>();
    system.provider.respond(fake.when(answered.promise, echoPrompt));
    const waiting = predictBatch(ann, inputsOf(10));
    // One account may take seven of the eight slots.
    await system.provider.called(7);
    assert.equal((await ann.request('DELETE', `/api/memory/facts/${gone.id}/`)).status, 200);
    await add(ann, 'facts', { text: 'Likes tea' });
    answered.resolve();
    const { body } = await waiting;
    // The seven predictions made with the deleted fact end without candidates; which prompts these are varies.
    const hasCandidates = texts(body).map((text) => text !== '');
    assert.equal(hasCandidates.filter((made) => made).length, 3);
    const memories = system.provider.calls.map((call) => call.body.messages?.at(-2)?.content ?? '');
    for (const [n, memory] of memories.entries()) {
      assert.equal(memory.includes('blue'), n < 7);
      assert.ok(memory.includes('Fridays') && !memory.includes('tea'));
    }
    const details = await Promise.all(
      idsIn(body).map((id) => ann.get<ReplyDetail>(`/api/predictions/${id}/`)),
    );
    for (const [n, { body }] of details.entries())
      if (hasCandidates[n]) assert.deepEqual(body.context?.fact_ids, [left.id]);
  });

  it('a reply batch with an invalid body is 422 and makes no prediction', async () => {
    const refused: [object, string][] = [
      [{}, 'body.prompts missing'],
      [batchBody([]), 'body.prompts too_short'],
      [batchBody(inputsOf(101)), 'body.prompts too_long'],
      [batchBody(['ok', '']), 'body.prompts.1.agent_input string_too_short'],
      [batchBody(['x'.repeat(64_001)]), 'body.prompts.0.agent_input string_too_long'],
      [{ prompts: [{ agent_input: 'x' }] }, 'body.prompts.0.agent missing'],
      [{ prompts: [{ agent: 'a', agent_input: 'x', k: 2 }] }, 'body.prompts.0.k extra_forbidden'],
      [batchBody(['ok'], { k: 4 }), 'body.k less_than_equal'],
      [batchBody(['ok'], { model: 'other' }), 'body.model enum'],
    ];
    for (const [body, fault] of refused) {
      const reply = await ann.post<{ detail: { loc: string[]; type: string }[] }>(BATCH, body);
      assert.equal(reply.status, 422, reply.text);
      const [first] = reply.body.detail;
      assert.equal(`${first?.loc.join('.')} ${first?.type}`, fault);
    }
    assert.equal(system.provider.calls.length, 0);
    const { body: list } = await ann.get<ReplyList>('/api/predictions/');
    assert.equal(list.total, 0);
  });

  describe('as a job', () => {
    it('the job of a reply batch reports how many predictions have ended, and has the result of the call', async () => {
      const answered = Promise.withResolvers<void>();
      const slow = (one: string) => one === 'Prompt 1?';
      system.provider.respond(forPrompts(slow, fake.when(answered.promise, echoPrompt), echoPrompt));
      const headers = { 'idempotency-key': 'job' };
      const path = await start(inputsOf(3), headers);
      await until(async () => (await read(path)).progress.done === 2);
      const { kind, state, progress, result } = await read(path);
      assert.deepEqual(
        [kind, state, progress, result],
        ['predict_batch', 'running', { done: 2, total: 3 }, null],
      );
      answered.resolve();
      const job = await untilEnded(path);
      assert.deepEqual([job.state, job.progress, job.error], ['succeeded', { done: 3, total: 3 }, null]);
      assert.deepEqual(job.result, (await predictBatch(ann, inputsOf(3), { headers })).body);
    });

    it('a cancelled reply batch cancels its predictions, and aborts their provider calls', async () => {
      // Answers only the prompt that comes first; the others hang.
      system.provider.respond(fake.hang());
      system.provider.next(echoPrompt);
      const headers = { 'idempotency-key': 'cancelled' };
      const waiting = predictBatch(ann, inputsOf(20), { headers });
      const [, ...hung] = await Promise.all([1, 2, 3, 4].map((n) => system.provider.called(n)));
      const path = await start(inputsOf(20), { ...headers, prefer: 'respond-async, wait' });
      await until(async () => (await read(path)).progress.done === 1);
      const { status, body } = await ann.request<JobResponse>('DELETE', path);
      assert.deepEqual([status, body.state, body.error?.code], [200, 'cancelled', 'job_cancelled']);
      const { status: ending, code } = await waiting;
      assert.deepEqual([ending, code], [499, 'job_cancelled']);
      await Promise.all(hung.map((call) => call.aborted));
      const stored = await until(async () => {
        const { body: list } = await ann.get<ReplyList>('/api/predictions/');
        return list.results.every(({ status: one, error }) => one !== 'pending' || error !== null) && list;
      });
      const codes = stored.results.flatMap(({ error }) => error ?? []);
      assert.deepEqual(
        codes,
        Array.from({ length: 19 }, () => 'prediction_cancelled'),
      );
      system.provider.respond(echoPrompt);
      assert.equal((await predictBatch(ann, inputsOf(8))).body.succeeded, 8);
    });

    it('a streamed reply batch sends each item once, and then the complete answer in its `done` event', async () => {
      const answered = Promise.withResolvers<void>();
      const slow = (one: string) => one === 'Prompt 0?';
      const failing = (one: string) => one === 'Prompt 2?';
      const others = forPrompts(failing, fake.status(500), echoPrompt);
      system.provider.respond(forPrompts(slow, fake.when(answered.promise, echoPrompt), others));
      const streaming = predictBatch(ann, inputsOf(4), { headers: { accept: 'text/event-stream' } });
      const path = await until(async () => {
        const rows = await system.sql(`select key from work where kind = 'predict_batch' and party = $1`, [
          ann.id,
        ]);
        return rows.length === 1 && `/api/jobs/${rows[0]?.['key']}/`;
      });
      await until(async () => (await read(path)).progress.done === 3);
      answered.resolve();
      const { status, text } = await streaming;
      assert.equal(status, 200);
      const events = text
        .trimEnd()
        .split('\n\n')
        .map((event) => event.match(/^event: (\w+)\ndata: (.*)(?:\nid: \w+)?$/) ?? [])
        .map(([, name = '', data = '']) => ({ name, data: JSON.parse(data) }));
      const done = events.at(-1);
      assert.equal(done?.name, 'done');
      const { results, succeeded, failed } = done.data as BatchResponse;
      assert.deepEqual([succeeded, failed], [3, 1]);
      const items = events.filter(({ name }) => name === 'result').map(({ data }) => data as BatchItem);
      assert.deepEqual(
        items.toSorted((a, b) => a.index - b.index),
        results,
      );
      assert.deepEqual(events.filter(({ name }) => name === 'progress').at(-1)?.data, { done: 4, total: 4 });
    });

    it('a new event stream of a reply batch resumes after the event of `Last-Event-ID`', async () => {
      const accept = 'text/event-stream';
      const { text } = await predictBatch(ann, inputsOf(3), { headers: { accept } });
      const [, path = ''] = /"status_url":"[^"]*(\/api[^"]*)"/.exec(text) ?? [];
      const [, arrived = '', id = ''] = /event: result\ndata: {"index":(\d).*\nid: (\w+)\n/.exec(text) ?? [];
      const resumed = await ann.get(path, {
        headers: { accept, 'last-event-id': id },
      });
      const indexes = [...resumed.text.matchAll(/^event: result\ndata: {"index":(\d)/gm)].map(
        ([, index]) => index,
      );
      assert.deepEqual(
        indexes,
        ['0', '1', '2'].filter((index) => index !== arrived),
      );
      assert.match(resumed.text, /\nevent: done\ndata: {"results":.*\n\n$/);
      const bob = await signUp(system);
      assert.equal((await bob.get(path, { headers: { accept } })).status, 404);
    });
  });

  it('a reply batch that is cancelled before it admits its predictions admits none', async () => {
    const { pool } = system.database;
    const rowsOf = async (text: string) => (await pool.query(text, [ann.id])).rowCount;
    const { job, lock } = await whileFrozen(system.workers, async () => ({
      job: await start(inputsOf(3)),
      lock: await lockAdmissions(system, ann.id),
    }));
    try {
      await untilLocked(system, 'admit_v1');
      assert.equal((await ann.request('DELETE', job)).status, 200);
    } finally {
      await lock.release();
    }
    assert.equal((await predictBatch(ann, inputsOf(1))).status, 200);
    assert.equal(await rowsOf('select from replies where account_id = $1'), 1);
    assert.equal(system.provider.calls.length, 1);
  });

  it('a reply batch leaves no text of a person in the table `history`', async () => {
    await predictBatch(ann, ['A very private question?']);
    const rows = await system.sql<{ row: string }>(
      `select to_jsonb(h)::text as row from history h where party = $1`,
      [ann.id],
    );
    assert.equal(rows.length, 2);
    assert.doesNotMatch(pluck(rows, 'row').join('\n'), /private|Re: |habit/);
  });
});
