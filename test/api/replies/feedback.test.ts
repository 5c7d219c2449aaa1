import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ActivityResponse } from '../../../shared/schemas/activity.ts';
import type { ReplyDetail, ReplyList } from '../../../shared/schemas/replies.ts';
import type { ReplyCalibration, ReplyStats } from '../../../shared/schemas/reply-figures.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import * as fake from '../../support/fake-provider.ts';
import { add } from '../../support/memory.ts';
import { pluck } from '../../support/pluck.ts';
import { event, post } from '../../support/recording.ts';
import {
  addReply,
  feedback,
  predictReply,
  predictSuccessfully,
  proposeReplies,
} from '../../support/replies.ts';
import { useSystem } from '../../support/system.ts';

describe('feedback and statistics', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { SUPPORTED_MODELS: 'fake-model,local', FALLBACK_MODELS: 'local' },
  });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
    system.provider.reset();
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
  });

  const get = async <Body>(path: string) => (await ann.get<Body>(`/api/predictions/${path}`)).body;
  const decide = async (reply: { id: string }, given: object): Promise<ReplyDetail> => {
    const { status, text, body } = await feedback(ann, reply, given);
    assert.equal(status, 200, text);
    return body;
  };
  const failPrediction = async () => {
    system.provider.next(fake.lengthStop());
    assert.equal((await predictReply(ann)).status, 502);
    const { results } = await get<ReplyList>('?status=pending');
    const [one] = results;
    assert.ok(one);
    return one;
  };

  describe('feedback', () => {
    it('accepting a predicted reply stores the predicted response as the actual response', async () => {
      const reply = await predictSuccessfully(ann);
      const { status, actual_response, feedback_at } = await decide(reply, { status: 'accepted' });
      assert.deepEqual([status, actual_response], ['accepted', 'Blue']);
      assert.ok(feedback_at !== null);
    });

    it('feedback that a predicted reply was edited requires the text that was sent instead', async () => {
      const reply = await predictSuccessfully(ann);
      for (const [given, type] of [
        [{}, 'missing'],
        [{ actual_response: null }, 'value_error'],
        [{ actual_response: ' ' }, 'value_error'],
      ] as const) {
        const { status, text } = await feedback(ann, reply, { status: 'edited', ...given });
        assert.equal(status, 422);
        const [fault] = JSON.parse(text).detail;
        assert.deepEqual([fault.loc, fault.type], [['body', 'actual_response'], type]);
      }
      const edited = await decide(reply, { status: 'edited', actual_response: 'Navy' });
      assert.deepEqual([edited.status, edited.actual_response], ['edited', 'Navy']);
    });

    it('feedback that a predicted reply was rejected may include the text that was sent instead', async () => {
      const reply = await predictSuccessfully(ann);
      assert.equal((await decide(reply, { status: 'rejected' })).actual_response, null);
      const said = await decide(reply, { status: 'rejected', actual_response: 'Red' });
      assert.equal(said.actual_response, 'Red');
    });

    it('the latest feedback on a predicted reply counts, and repeating the same feedback changes nothing', async () => {
      const reply = await predictSuccessfully(ann);
      await decide(reply, { status: 'rejected' });
      const last = await decide(reply, { status: 'accepted' });
      assert.deepEqual(await decide(reply, { status: 'accepted' }), last);
      assert.deepEqual(await decide(reply, { status: 'accepted', actual_response: 'Blue' }), last);
    });

    it('a failed reply prediction takes feedback, but `accepted` only with an `actual_response`', async () => {
      const one = await failPrediction();
      assert.equal((await feedback(ann, one, { status: 'accepted' })).status, 422);
      const accepted = await decide(one, { status: 'accepted', actual_response: 'Red' });
      assert.deepEqual([accepted.status, accepted.error], ['accepted', 'provider_failed']);
    });
  });

  describe('statistics', () => {
    it('reply statistics cover only the requested period', async () => {
      await predictSuccessfully(ann);
      const { results } = await get<ReplyList>('');
      const at = results[0]?.created_at ?? '';
      assert.equal((await get<ReplyStats>(`stats/?since=${at}`)).total, 1);
      const before = await get<ReplyStats>(`stats/?until=${at}`);
      assert.deepEqual([before.total, before.precision, before.automation_rate], [0, null, null]);
      assert.equal((await ann.get('/api/predictions/stats/?since=never')).status, 422);
    });
  });

  it('a trial and an abstention that the person dismissed are in no figure', async () => {
    await decide(await predictSuccessfully(ann), { status: 'accepted' });
    await predictSuccessfully(ann, { trial: true });
    await decide(await predictSuccessfully(ann, { model: 'local' }), { status: 'rejected' });
    const { total, precision } = await get<ReplyStats>('stats/');
    assert.deepEqual([total, precision], [1, 1]);
    const { body } = await ann.get<ActivityResponse>('/api/activity/?days=1');
    assert.deepEqual([body.days[0]?.by_status.accepted, body.days[0]?.by_status.rejected], [1, 0]);
    assert.equal((await get<ReplyList>('?trial=false')).total, 2);
  });

  it('a list of predicted replies has the questions, and a prediction the memory that it was made from', async () => {
    const fact = await add(ann, 'facts', { text: 'The button of the shop is blue.' });
    const { id } = await predictSuccessfully(ann, { agent_input: `${'Which button? '.repeat(40)}` });
    const { results, total } = await get<ReplyList>(`?fact_id=${fact.id}`);
    assert.deepEqual([total, results[0]?.id, results[0]?.question.length], [1, id, 300]);
    assert.equal((await get<ReplyList>(`?fact_id=${randomUUID()}`)).total, 0);
    const { evidence } = await get<ReplyDetail>(`${id}/?evidence=true`);
    assert.deepEqual(
      evidence?.filter(({ tier }) => tier === 'fact').map(({ id, text }) => [id, text]),
      [[fact.id, 'The button of the shop is blue.']],
    );
    await ann.request('DELETE', `/api/memory/facts/${fact.id}/`);
    const later = await get<ReplyDetail>(`${id}/?evidence=true`);
    assert.ok(later.evidence?.every(({ tier }) => tier !== 'fact'));
  });

  it('predicted replies are listed latest first, and can be filtered by agent, session and status', async () => {
    const made: string[] = [];
    for (const [agent, session_id] of [
      ['coder', 's-1'],
      ['coder', null],
      ['reviewer', 's-1'],
    ])
      made.unshift((await predictSuccessfully(ann, { agent, session_id, threshold: 1 })).id);
    await decide({ id: made[0] ?? '' }, { status: 'rejected' });
    const ids = async (query: string) => pluck((await get<ReplyList>(query)).results, 'id');
    assert.deepEqual(await ids(''), made);
    assert.deepEqual(await ids('?agent=coder'), made.slice(1));
    assert.deepEqual(await ids('?session_id=s-1'), [made[0], made[2]]);
    assert.deepEqual(await ids('?status=rejected'), made.slice(0, 1));
    const { total, limit, offset, results } = await get<ReplyList>('?limit=1&offset=1');
    assert.deepEqual([total, limit, offset, pluck(results, 'id')], [3, 1, 1, made.slice(1, 2)]);
    for (const query of ['limit=0', 'limit=201', 'offset=-1', 'status=lost', 'since=x'])
      assert.equal((await ann.get(`/api/predictions/?${query}`)).status, 422, query);
  });

  describe('confidence', () => {
    it('confidence in predicted replies is calibrated from feedback, and is the same in another worker', async () => {
      const first = await predictSuccessfully(ann);
      for (let n = 0; n < 6; n += 1) await decide(await predictSuccessfully(ann), { status: 'rejected' });
      const [doubted, again] = [await predictSuccessfully(ann), await predictSuccessfully(ann)];
      assert.ok(doubted.confidence < first.confidence - 0.1);
      assert.equal(again.confidence, doubted.confidence);
      const [worker] = system.workers.splice(0, 1);
      await Promise.all([system.startWorker(), worker?.stop()]);
      assert.equal((await predictSuccessfully(ann)).confidence, doubted.confidence);
      // Deletes the stored calibrator, which is recomputed from the feedback.
      await system.sql('update reply_calibrators set fitted = null, weights = null');
      assert.equal((await predictSuccessfully(ann)).confidence, doubted.confidence);
    });

    it('the calibration report suggests no threshold before there is enough feedback', async () => {
      const none = await get<ReplyCalibration>('calibration/');
      assert.deepEqual(
        [none.bins, none.brier, none.suggested_threshold, none.feedback_count, none.evidence.reason],
        [[], null, null, 0, 'no_feedback'],
      );
      const reply = await predictSuccessfully(ann, { threshold: 0 });
      await decide(reply, { status: 'accepted' });
      const { feedback_count, brier, bins, evidence } = await get<ReplyCalibration>('calibration/');
      assert.equal(feedback_count, 1);
      assert.ok(Math.abs((brier ?? 0) - (1 - reply.confidence) ** 2) < 1e-9);
      assert.deepEqual([bins[0]?.count, bins[0]?.observed], [1, 1]);
      assert.deepEqual([evidence.reason, evidence.target], ['too_little_feedback', 0.95]);
    });

    it('the calibration report aims at the precision in the query parameter `target`', async () => {
      const { evidence } = await get<ReplyCalibration>('calibration/?target=0.8');
      assert.equal(evidence.target, 0.8);
      for (const target of ['0.49', '1', 'most'])
        assert.equal((await ann.get(`/api/predictions/calibration/?target=${target}`)).status, 422);
    });

    it("the calibration report aims at the account's `precision_target` unless the query has a `target`", async () => {
      const change = (precision_target: unknown) =>
        ann.request('PATCH', '/api/auth/me/', { precision_target });
      const target = async (query = '') =>
        (await get<ReplyCalibration>(`calibration/${query}`)).evidence.target;
      assert.equal((await change(0.8)).status, 200);
      assert.equal((await ann.request('PATCH', '/api/auth/me/', { name: 'Ann' })).status, 200);
      assert.deepEqual([await target(), await target('?target=0.9')], [0.8, 0.9]);
      const { text } = await ann.get('/api/export/');
      assert.equal(JSON.parse(text.split('\n')[0] ?? '').data.precision_target, 0.8);
      for (const refused of [0.49, 1, 'most']) assert.equal((await change(refused)).status, 422);
      assert.equal((await change(null)).status, 200);
      assert.equal(await target(), 0.95);
    });
  });

  describe('built-in predictor', () => {
    it('the built-in predictor escalates without a candidate if memory has no similar prompt, and says why', async () => {
      const reply = await predictSuccessfully(ann, { model: 'local', threshold: 0 });
      assert.deepEqual(
        [reply.status, reply.predicted_response, reply.confidence, reply.candidates, reply.model],
        ['escalated', '', 0, [], 'local'],
      );
      assert.match(reply.reasoning, /No prompt like this/);
      assert.equal((await decide(reply, { status: 'accepted' })).actual_response, '');
    });

    it("the built-in predictor repeats the person's own reply to the same prompt, but not an accepted prediction", async () => {
      for (let n = 0; n < 4; n += 1) await addReply(ann, 'Shall I run the linter now?', 'yes, with --fix', n);
      const accepted = {
        content: 'No!',
        kind: 'reply',
        origin: 'accepted_prediction',
        session_id: 'session-0',
      };
      await add(ann, 'raw', { ...accepted, agent: 'coder' });
      const reply = await predictSuccessfully(ann, {
        model: 'local',
        agent_input: 'Shall I run the linter now?',
      });
      assert.equal(reply.predicted_response, 'yes, with --fix');
      assert.ok(reply.confidence > 0.6, String(reply.confidence));
      assert.deepEqual(reply.usage, { input_tokens: 0, output_tokens: 0 });
      assert.equal(system.provider.calls.length, 0);
    });

    it('the built-in predictor pairs each recorded reply with the prompt that it refers to, once both are synced', async () => {
      const session_id = randomUUID();
      const [asked, later] = [
        event({ session_id, prompt: 'Shall I update the lockfile?' }),
        event({ session_id, prompt: 'Is this the right folder?', occurred_at: '2026-05-01T12:00:01Z' }),
      ];
      const reply = { type: 'user.reply', agent: 'coder', reply: 'only on main', in_reply_to: asked.id };
      await post(ann, [asked, later, event({ session_id, ...reply, occurred_at: '2026-05-01T12:00:02Z' })]);
      assert.equal((await ann.post('/api/memory/sync/', {})).status, 200);
      const local = { model: 'local', agent_input: 'Shall I update the lockfile?' };
      assert.equal((await predictSuccessfully(ann, local)).predicted_response, 'only on main');
      assert.equal(
        (await predictSuccessfully(ann, { ...local, agent_input: later.prompt })).predicted_response,
        '',
      );
    });

    it('the built-in predictor replies instead of a failing provider if FALLBACK_MODELS lists it', async () => {
      for (let n = 0; n < 4; n += 1) await addReply(ann, 'Shall I run the linter now?', 'yes, with --fix', n);
      system.provider.respond(fake.status(500));
      const reply = await predictSuccessfully(ann, { agent_input: 'Shall I run the linter now?' });
      assert.deepEqual([reply.predicted_response, reply.model], ['yes, with --fix', 'local']);
      assert.equal(system.provider.calls.length, 1);
    });

    it("a language model is shown the person's earlier replies to similar prompts as examples", async () => {
      const pair = await addReply(ann, 'Shall I run the linter now?', 'yes, with --fix', 0);
      const { id } = await predictSuccessfully(ann, { agent_input: 'Shall I run the linter again?' });
      const { context } = await get<ReplyDetail>(`${id}/`);
      assert.deepEqual(context?.example_ids, [pair.id]);
      assert.match(JSON.stringify(system.provider.calls.at(-1)?.body), /yes, with --fix/);
    });
  });
});
