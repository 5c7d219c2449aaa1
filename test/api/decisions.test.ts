import assert from 'node:assert/strict';
import type { ActivityResponse, Checks } from '../../shared/schemas/activity.ts';
import type { Decision, DecisionList, DecisionSettings } from '../../shared/schemas/decisions.ts';
import type { PermissionAnswer } from '../../shared/schemas/permissions.ts';
import type { ReplyDetail } from '../../shared/schemas/replies.ts';
import { issueKey, signUp, type UserClient } from '../support/account.ts';
import { call } from '../support/client.ts';
import { startMailServer } from '../support/mail-server.ts';
import { permissionEvent, permissionRequest } from '../support/permissions.ts';
import { pluck } from '../support/pluck.ts';
import { post } from '../support/recording.ts';
import {
  feedback,
  predictSuccessfully,
  proposeReplies,
  replyBody,
  supportReply,
} from '../support/replies.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('what was decided for a person', () => {
  const system = useSystem();
  let person: UserClient;

  const ask = async (target: string, more: object = {}) =>
    (
      await person.request<PermissionAnswer>(
        'POST',
        '/api/predictions/permission/',
        permissionRequest(target, more),
      )
    ).body;
  const reply = () => predictSuccessfully(person, { threshold: 0.3 });
  const list = async (query = '') =>
    (await person.request<DecisionList>('GET', `/api/decisions/${query}`)).body;
  const object = (id: string) => person.request<Decision>('POST', `/api/decisions/${id}/object/`);
  const change = (part: object, key?: string) =>
    call('PATCH', `${person.url}/api/decisions/settings/`, part, {
      headers:
        key === undefined ? { authorization: `Bearer ${person.access}` } : { 'x-service-api-key': key },
    });

  beforeEach(async () => {
    person = await signUp(system);
    await post(
      person,
      Array.from({ length: 6 }, () => permissionEvent('npm test')),
    );
    await supportReply(person, 'Blue');
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
  });

  it('every automatic decision is listed with its evidence, its bar and its key, and nothing else is', async () => {
    const { id: replied } = await reply();
    const { id: allowed } = await ask('npm test -- --watch');
    await ask('npm test', { shadow: true });
    await ask('npm run lint');
    const { results, next, latest_day } = await list();
    assert.deepEqual(pluck(results, 'id'), [allowed, replied]);
    assert.deepEqual({ next, latest_day }, { next: null, latest_day: 2 });
    const [permission, prediction] = results;
    const { decided_at: _, ...shown } = permission as Decision;
    assert.deepEqual(shown, {
      id: allowed,
      kind: 'permission',
      agent: 'claude-code',
      session_id: null,
      project: '/home/ada/engine',
      tool: 'Bash',
      action: 'run',
      asked: 'npm test -- --watch',
      answer: 'allow',
      confidence: 0.875,
      threshold: null,
      required: 2,
      evidence: { agreeing: 6, similar: 6 },
      key_id: null,
      objected_at: null,
    });
    const { kind, asked, answer, threshold, evidence } = prediction as Decision;
    assert.deepEqual(
      { kind, asked, answer, threshold, evidence },
      {
        kind: 'reply',
        asked: replyBody().agent_input,
        answer: 'Blue',
        threshold: 0.3,
        evidence: { agreeing: 2, similar: 2 },
      },
    );
  });

  it('the list has pages, and names the key with which it was asked', async () => {
    const key = await issueKey(person, ['predict']);
    const { body: made } = await call<PermissionAnswer>(
      'POST',
      `${person.url}/api/predictions/permission/`,
      permissionRequest('npm test'),
      { headers: { 'x-service-api-key': key } },
    );
    for (const _ of [1, 2]) await ask('npm test');
    await reply();
    const seen: Decision[] = [];
    let query = '?limit=1';
    for (let pages = 0; query !== '' && pages < 5; pages += 1) {
      const { results, next } = await list(query);
      seen.push(...results);
      query = next === null ? '' : `?limit=1&cursor=${next}`;
    }
    assert.equal(new Set(pluck(seen, 'id')).size, 4);
    const byKey = seen.find(({ id }) => id === made.id);
    const { body: keys } = await person.request<{ results: { id: string }[] }>('GET', '/api/auth/keys/');
    assert.equal(byKey?.key_id, keys.results[0]?.id);
  });

  it('an objection ends at once what rests on the same approvals, until the person approves the like again', async () => {
    const { id } = await ask('npm test -- --watch');
    const { status, body } = await object(id);
    assert.equal(status, 200);
    assert.notEqual(body.objected_at, null);
    assert.deepEqual((await object(id)).body, body);
    assert.equal((await ask('npm test')).decision, 'ask');
    const later = { occurred_at: new Date(Date.now() + 60_000).toISOString() };
    const approvals = Array.from({ length: 9 }, () => permissionEvent('npm test', 'allowed', later));
    await post(person, approvals);
    assert.equal((await ask('npm test')).decision, 'allow');

    const { id: replied, status: first } = await reply();
    assert.equal(first, 'auto');
    assert.notEqual((await object(replied)).body.objected_at, null);
    assert.equal((await reply()).status, 'escalated');
  });

  it('nobody objects for another, to what was asked, or with a key that vouches for nobody', async () => {
    const { id } = await ask('npm test');
    const { id: asked } = await ask('npm run lint');
    assert.equal((await object(asked)).status, 404);
    const stranger = await signUp(system);
    assert.equal((await stranger.request('POST', `/api/decisions/${id}/object/`)).status, 404);
    const key = await issueKey(person, ['predict', 'write', 'read']);
    const { status } = await call('POST', `${person.url}/api/decisions/${id}/object/`, undefined, {
      headers: { 'x-service-api-key': key },
    });
    assert.equal(status, 403);
    assert.equal((await list()).results[0]?.objected_at, null);
  });

  it('a mail a day says how much was decided for a person, unless they want none', async () => {
    await using mail = await startMailServer();
    const quiet = await signUp(system);
    await post(quiet, [permissionEvent('npm test'), permissionEvent('npm test')]);
    await quiet.request('PATCH', '/api/decisions/settings/', { daily_note: false });
    await quiet.request('POST', '/api/predictions/permission/', permissionRequest('npm test'));
    for (const command of ['npm test', 'npm test -- --watch', 'npm run lint']) await ask(command);
    const mine = () => mail.mails.filter(({ to }) => to.includes(person.email));
    const env = { SMTP_URL: mail.url, MAIL_FROM: 'Forecue <forecue@example.com>' };
    for (const _ of [1, 2]) {
      await system.startWeb(env);
      await until(() => mine().length > 0);
    }
    await ask('npm test');
    await system.startWeb(env);
    assert.equal(mine().length, 1);
    const text = (mine()[0]?.data ?? '').replaceAll('=\n', '');
    assert.match(text, /Subject: Forecue decided 2 times for you/);
    assert.match(text, /http:\S+\/console\/#\/decisions/);
    assert.ok(!mail.mails.some(({ to }) => to.includes(quiet.email)));
  });

  it('what the person always refused is denied only if they switched that on, and an objection ends it', async () => {
    const refuse = (command: string, count: number) =>
      post(
        person,
        Array.from({ length: count }, () => permissionEvent(command, 'refused')),
      );
    await refuse('npm run lint', 2);
    await refuse('rm -rf ~', 5);
    await refuse('rm -rf build', 4);
    assert.equal((await ask('npm run lint')).decision, 'ask');
    assert.equal((await change({ deny: true })).status, 200);
    const { id, ...denied } = await ask('npm run lint -- --quiet');
    assert.deepEqual(denied, {
      decision: 'deny',
      reason: 'supported',
      confidence: 0.75,
      allowed: 0,
      refused: 2,
      required: 2,
    });
    assert.equal((await ask('rm -rf ~')).decision, 'deny');
    assert.equal((await ask('rm -rf build')).decision, 'ask');
    assert.equal((await ask('npm test')).decision, 'allow');
    assert.equal((await list()).results[2]?.answer, 'deny');
    assert.equal((await object(id)).status, 200);
    assert.equal((await ask('npm run lint')).decision, 'ask');
  });

  describe('checks', () => {
    const checkShare = (share: number) =>
      system.sql('update accounts set check_share = $2 where id = $1', [person.id, share]);
    const checks = async () =>
      (await person.request<ActivityResponse>('GET', '/api/activity/?days=1')).body.checks;
    const counts = ({ asked, answered, right }: Checks) => [asked, answered, right];

    it('what would be `auto` is asked at times without a word of the prediction, and the answer says whether it was right', async () => {
      await checkShare(1);
      const { id, ...asked } = await reply();
      assert.deepEqual(
        [asked.status, asked.predicted_response, asked.candidates, asked.confidence],
        ['escalated', '', [], 0],
      );
      const shown = async () => (await person.request<ReplyDetail>('GET', `/api/predictions/${id}/`)).text;
      assert.ok(!(await shown()).includes('Blue'));
      assert.equal((await feedback(person, { id }, { status: 'accepted' })).status, 422);
      await feedback(person, { id }, { status: 'edited', actual_response: 'Blue!' });
      assert.ok((await shown()).includes('"predicted_response":"Blue"'));
      const { id: dismissed } = await reply();
      await feedback(person, { id: dismissed }, { status: 'rejected' });
      const { replies } = await checks();
      assert.deepEqual(counts(replies), [2, 1, 1]);
      assert.equal(replies.precision, 1);
      assert.ok(Math.abs((replies.precision_low ?? 0) - 0.025) < 0.001 && replies.precision_high === 1);
    });

    it('a check that proves the prediction wrong ends what rests on the same replies', async () => {
      await checkShare(1);
      const { id } = await reply();
      await feedback(person, { id }, { status: 'edited', actual_response: 'Red' });
      await checkShare(0);
      assert.equal((await reply()).status, 'escalated');
      assert.deepEqual(counts((await checks()).replies), [1, 1, 0]);
    });

    it('a permission is checked by silence and the decision by hand that follows, but never where nobody is asked', async () => {
      await checkShare(1);
      const { decision, reason } = await ask('npm test');
      assert.deepEqual({ decision, reason }, { decision: 'ask', reason: 'check' });
      await post(
        person,
        Array.from({ length: 5 }, () => permissionEvent('git push origin dev')),
      );
      assert.equal((await ask('git push origin dev', { mode: 'auto' })).decision, 'allow');
      assert.equal((await ask('npm test -- --watch', { shadow: true })).decision, 'allow');
      const soon = { occurred_at: new Date(Date.now() + 5000).toISOString() };
      await post(person, [permissionEvent('npm test', 'allowed', soon)]);
      await post(person, [permissionEvent('npm test -- --watch', 'refused', soon)]);
      assert.deepEqual(counts((await checks()).permissions), [2, 2, 1]);
    });

    it('the share that is checked is the account’s to set, up to a fifth', async () => {
      assert.equal((await change({ check_share: 0.21 })).status, 422);
      assert.equal((await change({ check_share: 0.2 })).status, 200);
    });
  });

  it('one switch ends every automatic decision of the account, and a key with scopes may only switch it off', async () => {
    const key = await issueKey(person, ['predict']);
    assert.equal((await change({ automatic: true }, key)).status, 403);
    assert.equal((await change({ automatic: false, daily_note: false }, key)).status, 403);
    assert.equal((await change({ automatic: false }, key)).status, 200);
    assert.equal((await ask('npm test')).decision, 'ask');
    assert.equal((await reply()).status, 'escalated');
    assert.equal((await predictSuccessfully(person, { threshold: 0 })).status, 'escalated');
    assert.deepEqual((await list()).results, []);
    assert.equal((await change({ automatic: true, daily_note: false })).status, 200);
    const { body } = await person.request<DecisionSettings>('GET', '/api/decisions/settings/');
    assert.deepEqual(body, {
      automatic: true,
      deny: false,
      check_share: 0,
      daily_note: false,
      escalation_mail: 'off',
    });
    assert.equal((await ask('npm test')).decision, 'allow');
    assert.equal((await reply()).status, 'auto');
  });
});
