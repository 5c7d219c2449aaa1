import assert from 'node:assert/strict';
import { newId } from '../../../shared/ids.ts';
import type { ReplyDetail, ReplyList } from '../../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import * as fake from '../../support/fake-provider.ts';
import { add } from '../../support/memory.ts';
import { pluck } from '../../support/pluck.ts';
import {
  feedback,
  PREDICT,
  predictReply,
  predictSuccessfully,
  proposeReplies,
  supportReply,
} from '../../support/replies.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

const FIELDS =
  'candidates confidence id k latency_ms model predicted_response reasoning status threshold usage';

describe('predicting a reply', () => {
  const system = useSystem({
    env: { SUPPORTED_MODELS: 'fake-model,local', MAX_K: '3', REPLY_TIMEOUT_MS: '4000' },
  });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
    system.provider.reset();
    system.provider.respond(
      proposeReplies([{ response: 'Blue' }, { response: 'Green', likelihood: 'unlikely' }]),
    );
  });

  const readReply = (id: string) => ann.get<ReplyDetail>(`/api/predictions/${id}/`);
  const list = (query = '') => ann.get<ReplyList>(`/api/predictions/${query}`);
  const onlyReply = (is: (reply: ReplyList['results'][number]) => boolean) =>
    until(async () => {
      const { body } = await list();
      return body.results.find(is);
    });

  it('a predicted reply has eleven fields, and takes response, confidence and reasoning from its first candidate', async () => {
    await supportReply(ann, 'Blue');
    const reply = await predictSuccessfully(ann, { k: 2, threshold: 0.3 });
    assert.equal(Object.keys(reply).sort().join(' '), FIELDS);
    const [first, second] = reply.candidates;
    assert.deepEqual([first?.response, second?.response], ['Blue', 'Green']);
    assert.deepEqual(
      [reply.predicted_response, reply.confidence, reply.reasoning],
      [first?.response, first?.confidence, first?.reasoning],
    );
    assert.ok(reply.confidence > (second?.confidence ?? 1));
    assert.deepEqual(
      [reply.status, reply.k, reply.threshold, reply.model, reply.usage],
      ['auto', 2, 0.3, 'fake-model', { input_tokens: 12, output_tokens: 5 }],
    );
  });

  it('a predicted reply is stored with its prompt and the ids of the memory that it used', async () => {
    const fact = await add(ann, 'facts', { text: 'Paints everything blue' });
    await supportReply(ann, 'Blue');
    const reply = await predictSuccessfully(ann, { session_id: 's-1', threshold: 0.3 });
    const { body, status } = await readReply(reply.id);
    assert.equal(status, 200);
    const { agent, agent_input, session_id, created_at, acted_at, context, error, ...shown } = body;
    const { feedback_witness, feedback_reported, question, trial, ...rest } = shown;
    assert.deepEqual(
      [feedback_witness, feedback_reported, question, trial],
      [null, false, agent_input, false],
    );
    assert.deepEqual(
      { ...rest, actual_response: undefined, feedback_at: undefined },
      {
        ...reply,
        actual_response: undefined,
        feedback_at: undefined,
      },
    );
    assert.deepEqual(
      [agent, agent_input, session_id, error],
      ['coder', 'Which colour shall the button have?', 's-1', null],
    );
    assert.ok(acted_at !== null && acted_at >= created_at);
    assert.deepEqual(context?.fact_ids, [fact.id]);
    assert.equal(context?.prompt_revision, 3);
  });

  it('a supported reply is `auto` exactly when its confidence reaches the threshold', async () => {
    await supportReply(ann, 'Blue');
    const { confidence } = await predictSuccessfully(ann);
    assert.equal((await predictSuccessfully(ann, { threshold: confidence })).status, 'auto');
    const above = await predictSuccessfully(ann, { threshold: confidence + 0.0001 });
    assert.equal(above.status, 'escalated');
    assert.equal((await readReply(above.id)).body.acted_at, null);
    assert.equal((await predictSuccessfully(ann, { threshold: 0 })).status, 'auto');
    assert.equal((await predictSuccessfully(ann, { threshold: 1 })).status, 'escalated');
  });

  it('a predicted reply has distinct candidates, at most as many as requested', async () => {
    const many = ['Blue', ' blue. ', '', 'Green', 'Red', 'Black', 'Grey'];
    system.provider.respond(proposeReplies(many.map((response) => ({ response, likelihood: 'even' }))));
    const { candidates } = await predictSuccessfully(ann, { k: 3 });
    assert.deepEqual(pluck(candidates, 'response'), ['Blue', 'Green', 'Red']);
  });

  it('a reply prediction sends the model first the escaped memory, the same for every prompt, then the prompt', async () => {
    await add(ann, 'facts', { text: 'Paints <b>everything</b> blue' });
    await add(ann, 'raw', { content: 'The old button was grey', kind: 'note' });
    await predictSuccessfully(ann);
    await predictSuccessfully(ann, { agent_input: 'And the border?', k: 2 });
    const [first, second] = system.provider.calls.map(({ body }) => body.messages ?? []);
    assert.deepEqual(first?.slice(0, 2), second?.slice(0, 2));
    assert.match(
      first?.[1]?.content ?? '',
      /Paints \\u003cb>everything\\u003c\/b> blue.*The old button was grey/s,
    );
    assert.match(second?.[2]?.content ?? '', /And the border\?/);
  });

  it('a reply prediction with more candidates than MAX_K, or a model that is not offered, is 422', async () => {
    const { status, body } = await predictReply<{ detail: object[] }>(ann, { k: 4, model: 'other' });
    assert.equal(status, 422);
    assert.deepEqual(body.detail, [
      {
        loc: ['body', 'model'],
        msg: 'Input should be one of fake-model, local',
        type: 'enum',
        ctx: { expected: ['fake-model', 'local'] },
        input: 'other',
      },
      {
        loc: ['body', 'k'],
        msg: 'Input should be less than or equal to 3',
        type: 'less_than_equal',
        ctx: { le: 3 },
        input: 4,
      },
    ]);
    assert.equal((await list()).body.total, 0);
  });

  describe('failing reply predictions', () => {
    const failures: [string, fake.Step, number, string][] = [
      ["the provider's 500", fake.status(500), 502, 'provider_failed'],
      ['a blank candidate', proposeReplies([{ response: ' ' }]), 502, 'provider_failed'],
      ["the model's refusal", fake.refusal(), 502, 'provider_failed'],
      ['a content-filter refusal', fake.contentFilter(), 502, 'provider_failed'],
      ['a truncated answer', fake.lengthStop(), 502, 'provider_failed'],
      ["the provider's rate limit", fake.status(429), 429, 'provider_rate_limited'],
      ['a refused key', fake.status(401), 503, 'provider_not_configured'],
      ['a provider that never answers', fake.hang(), 504, 'prediction_timeout'],
    ];
    for (const [name, step, status, code] of failures)
      it(`a reply prediction that fails because of ${name} gets ${status} ${code}, and stays pending with that error`, async () => {
        system.provider.respond(step);
        const reply = await predictReply(ann, { threshold: 0 });
        assert.deepEqual([reply.status, reply.code], [status, code]);
        const stored = await onlyReply(({ error }) => error !== null);
        assert.deepEqual(
          [stored.status, stored.error, stored.confidence, stored.predicted_response, stored.candidates],
          ['pending', code, 0, '', []],
        );
        assert.equal(stored.acted_at, null);
      });

    it('a failed reply prediction runs again under its Idempotency-Key, and keeps its prediction id', async () => {
      const headers = { 'idempotency-key': newId() };
      system.provider.respond(fake.status(500));
      assert.equal((await predictReply(ann, {}, { headers })).status, 502);
      const failed = await onlyReply(({ error }) => error !== null);
      system.provider.respond(proposeReplies([{ response: 'Blue' }]));
      const again = await predictReply(ann, {}, { headers });
      assert.deepEqual([again.status, again.body.id], [200, failed.id]);
      assert.equal((await readReply(failed.id)).body.error, null);
    });
  });

  it('a running reply prediction is pending, takes no feedback, and continues if its caller disconnects', async () => {
    const answer = Promise.withResolvers<void>();
    system.provider.respond(fake.when(answer.promise, proposeReplies([{ response: 'Blue' }])));
    const leaving = new AbortController();
    const left = predictReply(ann, {}, { signal: leaving.signal }).catch(() => 'left');
    await system.provider.called(1);
    const { id } = await onlyReply(({ status }) => status === 'pending');
    const early = await feedback(ann, { id }, { status: 'rejected' });
    assert.deepEqual([early.status, early.code], [409, 'request_in_flight']);
    leaving.abort();
    assert.equal(await left, 'left');
    answer.resolve();
    const done = await onlyReply(({ status }) => status === 'escalated' || status === 'auto');
    assert.equal(done.predicted_response, 'Blue');
  });

  it('a reply prediction with `X-On-Disconnect: cancel` is cancelled when its caller disconnects', async () => {
    system.provider.respond(fake.hang());
    const leaving = new AbortController();
    const headers = { 'x-on-disconnect': 'cancel' };
    const asking = predictReply(ann, {}, { signal: leaving.signal, headers });
    await system.provider.called(1);
    leaving.abort();
    await assert.rejects(asking);
    const { error, status } = await onlyReply((reply) => reply.error !== null);
    assert.deepEqual([status, error], ['pending', 'prediction_cancelled']);
    await system.provider.calls[0]?.aborted;
  });

  describe('with an idempotency key', () => {
    it('a repeated request with the Idempotency-Key of a reply prediction gets the first answer, even after feedback', async () => {
      const headers = { 'idempotency-key': newId() };
      const first = await predictReply(ann, { threshold: 0.5 }, { headers });
      await feedback(ann, first.body, { status: 'rejected' });
      const again = await predictReply(ann, { threshold: 0.5, session_id: null }, { headers });
      assert.equal(again.text, first.text);
      assert.deepEqual(
        [first, again].map((reply) => reply.headers.get('idempotency-replayed')),
        [null, 'true'],
      );
      assert.equal(system.provider.calls.length, 1);
      const other = await predictReply(ann, { agent_input: 'Another one?' }, { headers });
      assert.deepEqual([other.status, other.code], [409, 'idempotency_conflict']);
    });

    it('a repeated request for a running reply prediction is 409, unless it has `Prefer: wait`', async () => {
      const answer = Promise.withResolvers<void>();
      system.provider.respond(fake.when(answer.promise, proposeReplies([{ response: 'Blue' }])));
      const key = { 'idempotency-key': newId() };
      const first = predictReply(ann, {}, { headers: key });
      await system.provider.called(1);
      assert.equal((await predictReply(ann, {}, { headers: key })).code, 'request_in_flight');
      const waiting = predictReply(ann, {}, { headers: { ...key, prefer: 'wait' } });
      answer.resolve();
      assert.equal((await waiting).text, (await first).text);
    });
  });

  it('a repeated request without an Idempotency-Key makes a new reply prediction', async () => {
    const [a, b] = [await predictSuccessfully(ann), await predictSuccessfully(ann)];
    assert.notEqual(a.id, b.id);
    assert.equal((await list()).body.total, 2);
  });

  it('a reply prediction leaves no text of a person in the table `history`', async () => {
    await predictSuccessfully(ann, { agent_input: 'A very private question?' });
    const rows = await system.sql<{ row: string }>(
      `select to_jsonb(h)::text as row from history h where party = $1`,
      [ann.id],
    );
    assert.equal(rows.length, 1);
    assert.doesNotMatch(rows[0]?.row ?? '', /private|Blue|habit/);
  });

  it('an invalid request for a reply prediction is 422, and the answer names each invalid field', async () => {
    const { status, body } = await ann.post<{ detail: { loc: string[] }[] }>(PREDICT, {
      agent: '',
      k: 0,
      threshold: 1.1,
      recency_minutes: 10_081,
      other: 1,
    });
    assert.equal(status, 422);
    assert.deepEqual(
      body.detail.map(({ loc }) => loc.join('.')).sort(),
      ['agent', 'agent_input', 'k', 'other', 'recency_minutes', 'threshold'].map((name) => `body.${name}`),
    );
  });
});
