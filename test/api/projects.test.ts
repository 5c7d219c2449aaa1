import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DraftResponse } from '../../shared/schemas/drafts.ts';
import type { EpisodeResponse, RawMemoryResponse } from '../../shared/schemas/memory.ts';
import type { ReplyResponse } from '../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { add } from '../support/memory.ts';
import { pluck } from '../support/pluck.ts';
import { event, post } from '../support/recording.ts';
import { useSystem } from '../support/system.ts';

const DRAFT = 'Please reconcile the quar';
const SENTENCE = 'Please reconcile the quarterly ledger before lunch';

describe('projects', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' },
  });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
  });

  const about = (project?: string): { headers: Record<string, string> } => ({
    headers: project === undefined ? {} : { 'forecue-project': project },
  });
  const say = (content: string, project: string | null, row: object = {}) =>
    add(ann, 'raw', { content, kind: 'reply', project, ...row });
  const sync = async () => assert.equal((await ann.post('/api/memory/sync/', {})).status, 200);
  const list = async (query: string) => {
    const { body } = await ann.get<{ results: RawMemoryResponse[] }>(`/api/memory/raw/${query}`);
    return pluck(body.results, 'content').sort();
  };
  const recalled = async (project: string | undefined, body: object) => {
    type Bundle = Record<'facts' | 'episodes' | 'raw', Record<string, string>[]>;
    const { body: bundle } = await ann.post<Bundle>('/api/memory/context/', body, about(project));
    return [...bundle.facts, ...bundle.episodes, ...bundle.raw]
      .map((row) => row['text'] ?? row['title'] ?? row['content'])
      .sort();
  };

  /** Records a session in a folder, with one message. */
  const record = async (text: string, start: object, session_id: string = randomUUID()) => {
    const said = event({ session_id, type: 'user.message', text });
    await post(ann, [event({ session_id, type: 'session.started', ...start }), said]);
    await sync();
    return { session_id, event_id: said.id };
  };

  it("a session's rows belong to the project in its folder, or to the named one, also when it is named later", async () => {
    await record('in a folder', { source_detail: '/home/ada/code/Engine' });
    await record('on another machine', { source_detail: 'C:\\work\\engine' });
    await record('named', { source_detail: '/home/ada/x', project: 'git@example.com:acme/engine.git' });
    await record('at home', { source_detail: '/home/ada' });
    await record('in a chat', { source_detail: 'Trip to engine' });
    const { session_id } = await record('found out later', { source_detail: '/srv/web' });
    await say('beside it', 'unused', { session_id, project: undefined });
    const engine = ['in a folder', 'named', 'on another machine'];
    assert.deepEqual(await list('?project=engine'), engine);
    assert.deepEqual(await list('?project=web'), ['beside it', 'found out later']);
    assert.deepEqual(await list('?project=/opt/engine&q=machine'), ['on another machine']);
    await record('and more', { project: 'engine' }, session_id);
    assert.deepEqual(await list('?project=engine'), ['and more', 'found out later', ...engine].sort());
    assert.deepEqual(await list('?project=/home/ada'), []);
  });

  it('an episode is of the project of its rows, a fact of that of its episodes, and a client can set both', async () => {
    await record('I always review my own changes twice', { source_detail: '/srv/engine' });
    assert.equal((await ann.post('/api/memory/promote/episodes/', {})).status, 200);
    const page = await ann.get<{ results: EpisodeResponse[] }>('/api/memory/episodes/?project=engine');
    const [episode] = page.body.results;
    assert.equal(episode?.project, 'engine');
    const span = { started_at: '2026-05-01T12:00:00Z', ended_at: '2026-05-01T13:00:00Z' };
    const own = await add(ann, 'episodes', { title: 'Own', summary: 'Own', project: '/srv/Web', ...span });
    const fact = await add(ann, 'facts', { text: 'Likes tea', episode_ids: [own.id] });
    assert.deepEqual([own['project'], fact['project']], ['web', 'web']);
    const change = { episode_ids: [own.id, episode?.id] };
    const { body } = await ann.request<{ project: string }>('PATCH', `/api/memory/facts/${fact.id}/`, change);
    assert.equal(body.project, null);
    const patched = await ann.request<EpisodeResponse>('PATCH', `/api/memory/episodes/${own.id}/`, {
      project: null,
    });
    assert.equal(patched.body.project, null);
    assert.equal(
      (await ann.get<{ results: object[] }>('/api/memory/facts/?project=web')).body.results.length,
      0,
    );
  });

  it('the context of a project has what was said in it, in none, in three, and about the person, but nothing else', async () => {
    const span = { started_at: '2026-05-01T12:00:00Z', ended_at: '2026-05-01T13:00:00Z' };
    await say('Retries of the engine wait a second', 'engine');
    await say('Retries of the shop wait a minute', 'shop');
    await say('Retries bore me', null);
    for (const project of ['shop', 'blog', 'docs']) await say('Retries need a limit', project);
    await add(ann, 'episodes', { title: 'Retries in the shop', summary: 'x', project: 'shop', ...span });
    const shop = await add(ann, 'episodes', { title: 'x', summary: 'x', project: 'shop', ...span });
    await add(ann, 'facts', { text: 'Hates retries', episode_ids: [shop.id] });
    await add(ann, 'facts', { text: 'The retries use cron', kind: 'project', episode_ids: [shop.id] });
    const everywhere = ['Hates retries', 'Retries bore me', 'Retries need a limit'];
    const question = { query: 'How long do retries wait?', recency_minutes: null };
    const engine = ['Retries of the engine wait a second'];
    assert.deepEqual(await recalled('engine', question), [...everywhere, ...engine].sort());
    assert.deepEqual(
      await recalled('https://github.com/acme/engine', question),
      [...everywhere, ...engine].sort(),
    );
    const asked = await recalled('engine', { ...question, query: 'How long do retries wait in the shop?' });
    assert.ok(asked.includes('Retries of the shop wait a minute'));
    assert.equal((await recalled(undefined, question)).length, 10);
    assert.deepEqual(await recalled('engine', { recency_minutes: null, max_raw: 1 }), [
      'Hates retries',
      'Retries bore me',
    ]);
  });

  it('a draft is completed with what was typed in its project, and with what was typed in three', async () => {
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, ann);
    const complete = async (project?: string, text = DRAFT) => {
      const fields = {
        user_id: 'u-1',
        session_id: randomUUID(),
        connection_id,
        draft: { text, revision: 1 },
      };
      const body = predictionBody({ ...fields, messages: [], artifact: null });
      const inApp = (await app.predict(body, about(project))).body.completion;
      const own = await ann.post<DraftResponse>('/api/predictions/draft/', { draft: text }, about(project));
      assert.equal(own.body.completion, inApp);
      return inApp;
    };
    await say(SENTENCE, 'shop');
    assert.match(await complete('shop'), /^terly/);
    assert.match(await complete(), /^terly/);
    assert.equal(await complete('engine'), '');
    for (const project of ['blog', 'caf%C3%A9'])
      await say('Please reconcile the quarterly invoices', decodeURIComponent(project));
    assert.match(await complete('caf%C3%A9'), /^terly/);
    assert.equal(await complete('engine'), 'terly');
    assert.equal(await complete('engine', 'Please reconcile the quarterly '), '');
  });

  it('a reply is supported only by replies of its project, which its session may name, or given in three', async () => {
    const ask = async (project?: string, part: object = {}) => {
      const body = { agent: 'coder', agent_input: 'Shall I publish the package?', ...part };
      const { body: reply } = await ann.post<ReplyResponse>(
        '/api/predictions/predict/',
        body,
        about(project),
      );
      return reply.candidates.length > 0 ? reply.predicted_response : reply.confidence;
    };
    let hour = 0;
    const answer = async (project: string, reply: string) => {
      const part = {
        session_id: randomUUID(),
        occurred_at: new Date(Date.UTC(2026, 4, 1, hour++)),
        agent: 'coder',
      };
      await say('Shall I publish the package?', project, { ...part, kind: 'prompt' });
      await say(reply, project, part);
    };
    for (const _ of [1, 2, 3]) await answer('shop', 'yes');
    assert.deepEqual([await ask('shop'), await ask(), await ask('engine')], ['yes', 'yes', 0]);
    const { session_id } = await record('hello', { source_detail: '/srv/engine' });
    assert.equal(await ask(undefined, { session_id }), 0);
    for (const project of ['blog', 'docs']) await answer(project, 'Yes');
    assert.equal(await ask('engine'), 'yes');
  });
});
