import assert from 'node:assert/strict';
import type { DraftResponse } from '../../shared/schemas/drafts.ts';
import { anonymously, issueKey, signUp, type UserClient } from '../support/account.ts';
import * as fake from '../support/fake-provider.ts';
import { add, forget } from '../support/memory.ts';
import { useSystem } from '../support/system.ts';
import { tablesWith } from '../support/tables-with.ts';

import { until } from '../support/until.ts';

const DRAFT = '/api/predictions/draft/';
const SECRET = 'The spare key lies under the third blue flowerpot';

describe('draft predictions of an account', () => {
  const system = useSystem({ env: { PUBLIC_URL: 'http://localhost:8080' } });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
    system.provider.reset();
  });

  const predict = (body: object, options = {}) => ann.post<DraftResponse>(DRAFT, body, options);

  it("a draft prediction returns the completion, the model's prompt, the memory used, tokens and timings", async () => {
    const fact = await add(ann, 'facts', { text: 'Always runs the tests with coverage.' });
    system.provider.next(fake.ok({ continuation: ' coverage' }));
    const { status, body, text } = await predict({ draft: 'Run the tests with' });
    assert.equal(status, 200, text);
    assert.deepEqual([body.status, body.completion, body.model], ['suggested', ' coverage', 'fake-model']);
    const [call] = system.provider.calls;
    assert.deepEqual(body.sent, call?.body.messages);
    assert.match(body.sent?.at(-1)?.content ?? '', /Always runs the tests with coverage/);
    assert.deepEqual(body.context?.fact_ids, [fact.id]);
    assert.ok(body.usage.input_tokens > 0 && body.usage.output_tokens > 0);
    const { queue_ms, memory_ms, model_ms, total_ms } = body.timing;
    assert.ok(queue_ms + memory_ms + model_ms <= total_ms + 3, JSON.stringify(body.timing));
  });

  it('a draft prediction costs no unit, and its text is kept only for the recovery window', async () => {
    system.provider.next(fake.ok({ continuation: ' something only she would say' }));
    await predict({ draft: 'A draft of hers that nobody else has' });
    const { pool } = system.database;
    const units = await pool.query('select from usage');
    assert.equal(units.rows.length, 0);
    const { rows } = await pool.query(
      `select facts, report, month from history where kind = 'draft' and party = $1`,
      [ann.id],
    );
    assert.equal(rows.length, 1);
    assert.doesNotMatch(JSON.stringify(rows), /hers|she would/);
    const answers = await pool.query<{ lasts: number }>(
      `select extract(epoch from expires_at - now())::int as lasts from answers where answer like '%she would%'`,
    );
    assert.ok((answers.rows[0]?.lasts ?? 0) > 0 && (answers.rows[0]?.lasts ?? 0) <= 601);
  });

  it('a draft prediction abstains on a blank draft without asking a model, and when the model is unsure', async () => {
    const blank = await predict({ draft: ' ' });
    assert.deepEqual([blank.body.status, blank.body.completion, blank.body.sent], ['abstained', '', []]);
    assert.equal(system.provider.calls.length, 0);
    system.provider.next(fake.ok({ continuation: ' perhaps', likelihood: 'very_unlikely' }));
    const unsure = await predict({ draft: 'I might' });
    assert.deepEqual([unsure.body.status, unsure.body.completion], ['abstained', '']);
    assert.ok((unsure.body.sent?.length ?? 0) > 0);
  });

  it('a draft prediction with mode `next_prompt` accepts an empty draft, and returns a whole prompt', async () => {
    system.provider.next(fake.ok({ continuation: 'Go on, please' }));
    const messages = [{ role: 'assistant', content: 'It is done. What next?' }];
    const { body } = await predict({ draft: '', mode: 'next_prompt', messages });
    assert.equal(body.completion, 'Go on, please');
  });

  it('a draft prediction is cancelled when its caller disconnects', async () => {
    system.provider.next(fake.hang());
    const left = new AbortController();
    const gone = predict({ draft: 'The first of two' }, { signal: left.signal }).catch(() => undefined);
    const call = await system.provider.called(1);
    left.abort();
    await Promise.all([gone, call.aborted]);
    await until(async () => {
      const rows = await system.sql(`select code from history where kind = 'draft' and party = $1`, [ann.id]);
      return rows[0]?.['code'] === 'prediction_cancelled';
    });
  });

  it('a draft prediction uses no memory of other accounts', async () => {
    const bob = await signUp(system);
    await add(bob, 'facts', { text: 'Bob keeps the coverage secret.' });
    const { body } = await predict({ draft: 'What about the coverage' });
    assert.doesNotMatch(JSON.stringify(body), /Bob/);
    assert.deepEqual(body.context?.fact_ids, []);
  });

  it('deleting a raw row erases the stored draft predictions that used the row or memory derived from it', async () => {
    const row = await add(ann, 'raw', { content: SECRET, kind: 'note', occurred_at: '2026-01-01T00:00:00Z' });
    const episode = await add(ann, 'episodes', { title: 'Keys', summary: 'About keys', raw_ids: [row.id] });
    await add(ann, 'facts', { text: `${SECRET}, I think`, episode_ids: [episode.id] });
    system.provider.respond(fake.ok({ continuation: ' of hers' }));
    await predict({ draft: 'Is the spare key under a flowerpot' });
    assert.ok((await tablesWith(system, 'third blue flowerpot')).includes('public.answers'));
    await forget(ann, 'raw', row);
    assert.deepEqual(await tablesWith(system, 'third blue flowerpot'), []);
  });

  it('deleting a fact erases the stored draft predictions that used the fact, and no others', async () => {
    system.provider.respond(fake.ok({ continuation: ' an elephant of hers' }));
    await predict({ draft: 'It was' });
    const fact = await add(ann, 'facts', { text: SECRET });
    await predict({ draft: 'Where is the spare key' });
    await forget(ann, 'facts', fact);
    assert.deepEqual(await tablesWith(system, 'third blue flowerpot'), []);
    assert.deepEqual(await tablesWith(system, 'an elephant of hers'), ['public.answers']);
  });

  it('deleting the profile erases the stored draft predictions that used the profile, and no others', async () => {
    system.provider.respond(fake.ok({ continuation: ' an elephant of hers' }));
    await predict({ draft: 'It was' });
    await ann.post('/api/memory/profile/', { summary: SECRET });
    await predict({ draft: 'Where is the spare key' });
    assert.ok((await tablesWith(system, 'third blue flowerpot')).includes('public.answers'));
    assert.equal((await ann.request('DELETE', '/api/memory/profile/')).status, 204);
    assert.deepEqual(await tablesWith(system, 'third blue flowerpot'), []);
    assert.deepEqual(await tablesWith(system, 'an elephant of hers'), ['public.answers']);
  });

  it('a draft prediction abstains, and stores no answer, if memory that it uses is deleted meanwhile', async () => {
    const fact = await add(ann, 'facts', { text: SECRET });
    const answer = Promise.withResolvers<void>();
    system.provider.next(fake.when(answer.promise, fake.ok({ continuation: ' the blue flowerpot of hers' })));
    const running = predict({ draft: 'Where is the spare key' });
    await system.provider.called(1);
    await forget(ann, 'facts', fact);
    answer.resolve();
    const { status, body } = await running;
    assert.deepEqual([status, body.status, body.completion, body.sent], [200, 'abstained', '', []]);
    assert.deepEqual(await tablesWith(system, 'blue flowerpot'), []);
  });

  it('a draft prediction for a key shows its prompt and the memory that it used only if the key has the scope `read`', async () => {
    const fact = await add(ann, 'facts', { text: 'The spare bike is in the shed' });
    system.provider.respond(fake.ok({ continuation: ' is' }));
    const withKey = async (...scopes: string[]) => {
      const headers = { 'x-service-api-key': await issueKey(ann, scopes) };
      const body = { draft: 'Where the spare bike' };
      const answer = await anonymously<DraftResponse>(system, 'POST', DRAFT, body, { headers });
      assert.equal(answer.status, 200, answer.text);
      return answer;
    };
    const { body: reader } = await withKey('predict', 'read');
    assert.match(JSON.stringify(reader.sent), /in the shed/);
    assert.deepEqual(reader.context?.fact_ids, [fact.id]);
    const { body, text } = await withKey('predict');
    assert.equal(body.completion, ' is');
    assert.ok(!('sent' in body) && !('context' in body), text);
  });

  it('a draft prediction is 422 if invalid, 413 if too large, and 502, 503 or 429 if the provider fails', async () => {
    assert.equal((await predict({ draft: 'x', model: 'other' })).status, 422);
    assert.equal((await predict({})).status, 422);
    const messages = Array.from({ length: 30 }, () => ({ role: 'user', content: 'x'.repeat(8000) }));
    const large = await predict({ draft: 'x', messages });
    assert.deepEqual([large.status, large.code], [413, 'context_too_large']);
    const faults = [
      [fake.status(500), 502, 'provider_failed'],
      [fake.status(401), 503, 'provider_not_configured'],
      [fake.status(429), 429, 'provider_rate_limited'],
    ] as const;
    for (const [step, status, code] of faults) {
      system.provider.next(step);
      const failed = await predict({ draft: 'It will' });
      assert.deepEqual([failed.status, failed.code], [status, code]);
    }
  });

  it('a draft prediction is 504 at its deadline, and 499 if its account is erased while it runs', async () => {
    const at = await system.startWeb({ PREDICTION_TIMEOUT_MS: '1000' });
    system.provider.respond(fake.hang());
    const late = await predict({ draft: 'It takes' }, { at });
    assert.deepEqual([late.status, late.code], [504, 'prediction_timeout']);
    const calls = system.provider.calls.length;
    const waiting = predict({ draft: 'It ends' });
    await system.provider.called(calls + 1);
    assert.equal((await ann.request('DELETE', '/api/auth/me/')).status, 204);
    const ended = await waiting;
    assert.deepEqual([ended.status, ended.code], [499, 'prediction_cancelled']);
  });
});

describe('draft predictions without a model', () => {
  const system = useSystem({ env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' } });

  it("the built-in predictor completes a draft from the person's earlier rows, and lists those rows", async () => {
    const ann = await signUp(system);
    const rows = await Promise.all(
      Array.from({ length: 4 }, (_, n) =>
        add(ann, 'raw', {
          content: 'Please run the tests with coverage.',
          kind: 'reply',
          session_id: `${ann.id}:${n}`,
        }),
      ),
    );
    const { body } = await ann.post<DraftResponse>(DRAFT, { draft: 'Please run the tests' });
    assert.equal(body.completion, ' with coverage');
    assert.deepEqual([body.model, body.sent], ['local', []]);
    for (const { id } of rows) assert.ok(body.context?.raw_ids.includes(id));
  });
});
