import assert from 'node:assert/strict';
import { signUp, someEmail } from '../support/account.ts';
import { describeEachClient } from '../support/each-client.ts';
import { hang, when } from '../support/fake-provider.ts';
import { startLink } from '../support/link.ts';
import { echoPrompt, forPrompts, inputsOf } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });

describeEachClient('account client', (create) => {
  beforeEach(() => {
    system.provider.reset();
    system.provider.respond(echoPrompt);
  });

  const connect = async (baseUrl?: string) => {
    const { access, refresh, url } = await signUp(system);
    return { client: create({ baseUrl: baseUrl ?? url, credential: { access, refresh } }), url };
  };
  const batch = (count: number) => ({
    prompts: inputsOf(count).map((agent_input) => ({ agent: 'coder', agent_input })),
  });
  const collect = async <T>(events: AsyncIterable<T>) => {
    const all: T[] = [];
    for await (const event of events) all.push(event);
    return all;
  };

  it('the account client keeps a person logged in after sign-up or log-in, until the person logs out', async () => {
    const client = create({ baseUrl: system.webs[0]?.url ?? '' });
    await assert.rejects(client.readAccount(), { code: 'not_authenticated' });
    const person = { email: someEmail(), password: 'a horse with 9 staples' };
    await client.signUp(person);
    assert.equal((await client.readAccount()).email, person.email);
    assert.deepEqual(await client.logOut(), { status: 'logged_out' });
    await assert.rejects(client.readAccount(), { code: 'not_authenticated' });
    await client.logIn(person);
    assert.equal((await client.readAccount()).email, person.email);
    client.close();
  });

  it('the account client can read the account with a service key, but cannot issue further keys', async () => {
    const { client, url } = await connect();
    const { key } = await client.issueKey({ label: 'test' });
    const byKey = create({ baseUrl: url, credential: key });
    assert.deepEqual(await byKey.readAccount(), await client.readAccount());
    await assert.rejects(byKey.issueKey({ label: 'more' }), { code: 'access_denied' });
  });

  it('the account client rejects a credential that is empty or has white space, without quoting the credential', async () => {
    for (const credential of ['service_a b', 'a\nb', ''])
      await assert.rejects(async () => create({ baseUrl: 'http://a.example', credential }).readAccount(), {
        name: 'TypeError',
        message: /^(ValueError: )?credential: it is empty, or has spaces or line breaks in it$/,
      });
  });

  it('the account client reads and writes facts, episodes, the profile and events, and exports the account', async () => {
    const { client } = await connect();
    const fact = await client.addFacts({ text: 'Likes tea' });
    const [episode] = await client.addEpisodes([
      {
        title: 'Tea',
        summary: 'Had tea',
        started_at: '2026-11-20T10:00:00Z',
        ended_at: '2026-11-20T11:00:00Z',
      },
    ]);
    assert.equal((await client.changeFact(fact.id, { pinned: true })).pinned, true);
    assert.equal((await client.readEpisode(episode?.id ?? '')).title, 'Tea');
    assert.equal((await client.listFacts({ q: 'tea', limit: 1 })).results[0]?.id, fact.id);
    await client.writeProfile({ summary: 'Short.' });
    assert.equal((await client.assembleContext()).profile?.summary, 'Short.');
    await client.deleteProfile();
    await assert.rejects(client.readProfile(), { code: 'not_found', remedy: 'fix_request' });
    assert.equal((await client.deleteFact(fact.id)).id, fact.id);
    const id = `e ${process.pid}/?é`;
    const event = {
      id,
      session_id: crypto.randomUUID(),
      occurred_at: '2026-11-20T10:00:00Z',
      source: 'test',
      type: 'note' as const,
      text: 'A',
    };
    assert.equal((await client.recordEvents([event])).accepted, 1);
    assert.equal((await client.readEvent(id)).id, id);
    const types = new Set<string>();
    for await (const { type } of client.exportAccount()) types.add(type);
    assert.ok(types.has('event') && types.has('episode'), [...types].join());
  });

  it('the account client predicts a reply once, even if the first response is lost', async () => {
    await using link = await startLink(system.webs[0]?.url ?? '', {
      after() {
        if (link.requests.length === 1) link.cut();
      },
    });
    const { client } = await connect(link.url);
    const reply = await client.predictReply({ agent: 'coder', agent_input: 'Tabs?' });
    assert.equal(reply.predicted_response, 'Re: Tabs?');
    assert.deepEqual([link.requests.length, (await client.listReplies()).total], [2, 1]);
    const fed = await client.giveFeedback(reply.id, { status: 'accepted' });
    assert.equal(fed.status, 'accepted');
  });

  it("the account client streams a job's id first and its result last", async () => {
    const { client } = await connect();
    const events = await collect(client.stream('predictReplies', batch(3)));
    const [first, last] = [events[0], events.at(-1)];
    assert.ok(first?.type === 'job' && last?.type === 'done');
    assert.equal(last.result.succeeded, 3);
    const items = events.flatMap((event) => (event.type === 'result' ? [event.item.index] : []));
    assert.deepEqual(items.sort(), [0, 1, 2]);
    assert.deepEqual((await collect(client.follow(first.job_id))).at(-1), last);
    const receipt = await client.start('syncMemory');
    const followed = await collect(client.follow(receipt.job_id));
    assert.deepEqual(followed.at(-1)?.type, 'done');
  });

  it('the account client resumes a cut stream after the last event, and renews its tokens if necessary', async () => {
    const answered = Promise.withResolvers<void>();
    system.provider.respond(
      forPrompts((one) => one === 'Prompt 0?', when(answered.promise, echoPrompt), echoPrompt),
    );
    await using link = await startLink(system.webs[0]?.url ?? '', {
      before({ headers }) {
        if (link.requests.length === 2) headers.authorization = 'Bearer expired';
      },
    });
    const { client } = await connect(link.url);
    const items: number[] = [];
    const jobs: string[] = [];
    let result: unknown;
    for await (const event of client.stream('predictReplies', batch(4))) {
      if (event.type === 'job') jobs.push(event.job_id);
      if (event.type === 'done') result = event.result.succeeded;
      if (event.type !== 'result') continue;
      items.push(event.item.index);
      if (items.length === 2) link.cut();
      if (items.length === 3) answered.resolve();
    }
    assert.deepEqual([items.toSorted(), jobs.length, result], [[0, 1, 2, 3], 1, 4]);
    const asked = link.requests.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/, 'ID')}`);
    assert.deepEqual(asked, [
      'POST /api/predictions/predict/batch/',
      'GET /api/jobs/ID/',
      'POST /api/auth/token/refresh/',
      'GET /api/jobs/ID/',
    ]);
  });

  for (const way of ['waits for', 'streams'] as const)
    it(`the account client cancels a job that the caller ${way} when the caller's signal is aborted`, async () => {
      system.provider.respond(hang());
      const { client } = await connect();
      const left = new AbortController();
      const options = { signal: left.signal };
      const waiting =
        way === 'streams'
          ? collect(client.stream('predictReplies', batch(2), options))
          : client.predictReplies(batch(2), options);
      const call = await system.provider.called(1);
      left.abort();
      await assert.rejects(waiting, { name: 'AbortError' });
      await call.aborted;
      await until(async () => {
        const rows = await system.sql(`select 1 from work where kind = 'predict_batch'`);
        return rows.length === 0;
      });
    });
});
