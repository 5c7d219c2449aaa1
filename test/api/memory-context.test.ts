import assert from 'node:assert/strict';
import type { ValidationErrorBody } from '../../shared/schemas/errors.ts';
import type {
  EpisodeResponse,
  FactResponse,
  ProfileResponse,
  RawMemoryResponse,
} from '../../shared/schemas/memory.ts';
import type { ContextMeta } from '../../shared/schemas/memory-context.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { add, forget, quote } from '../support/memory.ts';
import { pluck } from '../support/pluck.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const CONTEXT = '/api/memory/context/';

interface Bundle {
  profile: ProfileResponse | null;
  facts: FactResponse[];
  episodes: EpisodeResponse[];
  raw: RawMemoryResponse[];
  meta: ContextMeta;
}

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const RECENT_SPAN = { started_at: minutesAgo(3), ended_at: minutesAgo(2) };

describe('memory context', () => {
  const system = useSystem({ workers: 0 });
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  const bundle = async (body: object = {}, of = person): Promise<Bundle> => {
    const reply = await of.post<Bundle>(CONTEXT, body);
    assert.equal(reply.status, 200, reply.text);
    return reply.body;
  };
  /** Repeats the request until memory is read within its limit of half a second, which a busy machine may exceed. */
  const completeBundle = (body: object) =>
    until(async () => {
      const found = await bundle(body);
      return !found.meta.timed_out && found;
    }, 30_000);
  const textsOf = ({ facts }: Bundle) => pluck(facts, 'text');
  const addAll = async (tier: 'facts' | 'raw' | 'episodes', rows: object[]) => {
    for (let at = 0; at < rows.length; at += 200) {
      const { status, text } = await person.post(`/api/memory/${tier}/`, rows.slice(at, at + 200));
      assert.equal(status, 201, text);
    }
  };

  it("a new account's memory context is empty, and its `meta` counts no rows", async () => {
    const { meta, ...tiers } = await bundle();
    assert.deepEqual(tiers, { profile: null, facts: [], episodes: [], raw: [] });
    const none = { matched: 0, returned: 0 };
    assert.deepEqual(meta.counts, { facts: none, episodes: none, raw: none });
    assert.deepEqual(meta.filters, { goal: null, tags: [] });
    assert.deepEqual([meta.revision, meta.token_estimate, meta.window.recency_minutes], [0, 0, 60]);
    assert.equal(Date.parse(meta.window.until) - Date.parse(meta.window.since ?? ''), 3_600_000);
    assert.equal(meta.window.until, meta.generated_at);
    assert.deepEqual(meta.promotion_backlog, { raw: 0, episodes: 0 });
  });

  it('the memory context shows rows in the same format as the endpoints of each tier', async () => {
    await person.post('/api/memory/profile/', { summary: 'Writes short mails', data: { a: 1 } });
    const said = await add(person, 'raw', { content: 'I like tea', kind: 'reply', metadata: { id: 'x' } });
    const episode = await add(person, 'episodes', {
      title: 'Tea',
      summary: 'Of tea',
      raw_ids: [said.id],
      ...RECENT_SPAN,
    });
    const fact = await add(person, 'facts', {
      text: 'Likes tea',
      episode_ids: [episode.id],
      tags: ['drinks'],
    });
    await add(await signUp(system), 'facts', { text: 'Is of somebody else' });

    const { profile, facts, episodes, raw, meta } = await bundle();
    const stored = await person.get<ProfileResponse>('/api/memory/profile/');
    assert.deepEqual(profile, stored.body);
    assert.deepEqual([facts, episodes, raw], [[fact], [episode], [said]]);
    const one = { matched: 1, returned: 1 };
    assert.deepEqual(meta.counts, { facts: one, episodes: one, raw: one });
    assert.deepEqual(meta.truncated, { facts: false, episodes: false, raw: false });
    assert.deepEqual([meta.revision, meta.promotion_backlog], [4, { raw: 1, episodes: 1 }]);
    assert.ok(meta.token_estimate > 5);
  });

  it('the memory context selects facts that contain the goal in any letter case and have one of the tags', async () => {
    await add(person, 'facts', { text: 'Deploys to Zürich, 100% by hand', tags: ['ops', 'manual'] });
    await add(person, 'facts', { text: 'deploys nightly', tags: ['ops'] });
    await add(person, 'facts', { text: 'Likes tea', tags: ['drinks'] });
    const matching = async (body: object) => textsOf(await bundle(body)).length;
    assert.equal(await matching({ goal: 'DEPLOYS' }), 2);
    assert.equal(await matching({ goal: 'ploys n' }), 1);
    assert.equal(await matching({ goal: 'zürich' }), 1);
    for (const [goal, count] of [
      ['0%', 1],
      ['%', 1],
      ['_', 0],
      ['\\', 0],
      ['D', 2],
      ['', 3],
    ] as const)
      assert.equal(await matching({ goal }), count, goal);
    assert.equal(await matching({ tags: ['manual', 'drinks'] }), 2);
    assert.equal(await matching({ tags: ['OPS'] }), 0);
    assert.equal(await matching({ tags: [] }), 3);
    assert.equal(await matching({ goal: 'deploys', tags: ['manual'] }), 1);
    const { meta } = await bundle({ goal: 'deploys', tags: ['manual'] });
    assert.deepEqual(meta.filters, { goal: 'deploys', tags: ['manual'] });
    assert.deepEqual(meta.counts.facts, { matched: 1, returned: 1 });
  });

  it('the memory context leaves out superseded, expired and not yet valid facts, and counts them', async () => {
    const fact = await add(person, 'facts', { text: 'Lives in Rome' });
    await person.request('PATCH', `/api/memory/facts/${fact.id}/`, { text: 'Lives in Oslo' });
    await add(person, 'facts', { text: 'Lived in Bern', superseded_by: fact.id });
    await add(person, 'facts', { text: 'Lived in Paris', valid_to: '2020-01-01T00:00:00Z' });
    await add(person, 'facts', { text: 'Will live in Lima', valid_from: '2999-01-01T00:00:00Z' });
    await add(person, 'facts', {
      text: 'Holds',
      valid_from: '2020-01-01T00:00:00Z',
      valid_to: '2999-01-01T00:00:00Z',
    });
    const { facts, meta } = await bundle();
    assert.deepEqual(pluck(facts, 'text'), ['Lives in Oslo', 'Holds']);
    const { superseded, expired, not_yet_valid } = meta.excluded;
    assert.deepEqual([superseded, expired, not_yet_valid], [1, 1, 1]);
    assert.deepEqual(textsOf(await bundle({ goal: 'live' })), ['Lives in Oslo']);
  });

  it('the memory context shows no deleted row, and no fact or episode that the deletion made stale', async () => {
    const said = await add(person, 'raw', {
      content: 'My launch code is seven four nine two',
      kind: 'reply',
    });
    const also = await add(person, 'raw', { content: 'I work in Oslo now', kind: 'reply' });
    const { id } = await add(person, 'episodes', {
      title: 'Codes',
      summary: 'Said that the launch code is seven four nine two',
      raw_ids: [said.id, also.id],
      ...RECENT_SPAN,
    });
    await system.sql(`update episodes set origin = 'model' where id = $1`, [id]);
    const fact = await add(person, 'facts', { text: 'The launch code is seven four nine two' });
    await quote(system, person, fact, said);
    await quote(system, person, fact, also);
    assert.equal((await bundle({ goal: 'launch' })).facts.length, 1);
    await forget(person, 'raw', said);
    for (const body of [{}, { goal: 'launch' }]) {
      const { meta, ...tiers } = await bundle(body);
      assert.doesNotMatch(JSON.stringify(tiers), /seven/);
      assert.deepEqual([tiers.facts, tiers.episodes, meta.excluded.stale], [[], [], 2]);
    }
  });

  it('the memory context shows the episodes and raw rows of the requested window, latest first', async () => {
    for (const minutes of [200, 5, 90]) {
      await add(person, 'raw', { content: `raw ${minutes}`, occurred_at: minutesAgo(minutes) });
      const span = { started_at: minutesAgo(minutes + 60), ended_at: minutesAgo(minutes) };
      await add(person, 'episodes', { title: `episode ${minutes}`, summary: 's', ...span });
    }
    // A row with a time in the future, from a clock that is ahead, is shown as well.
    await add(person, 'raw', { content: 'raw ahead', occurred_at: minutesAgo(-10) });
    const within = async (recency_minutes: number) => {
      const { raw, episodes } = await bundle({ recency_minutes });
      return [pluck(raw, 'content'), pluck(episodes, 'title')];
    };
    assert.deepEqual(await within(60), [['raw ahead', 'raw 5'], ['episode 5']]);
    assert.deepEqual(await within(10_080), [
      ['raw ahead', 'raw 5', 'raw 90', 'raw 200'],
      ['episode 5', 'episode 90', 'episode 200'],
    ]);
  });

  it('the memory context leaves out predictions that the person accepted or edited, and counts them', async () => {
    await add(person, 'raw', { content: 'mine', kind: 'reply' });
    for (const origin of ['accepted_prediction', 'edited_prediction'])
      await add(person, 'raw', { content: 'guessed', kind: 'reply', origin });
    const { raw, meta } = await bundle();
    assert.deepEqual(pluck(raw, 'content'), ['mine']);
    assert.deepEqual([meta.excluded.predicted_origin, meta.counts.raw], [2, { matched: 1, returned: 1 }]);
  });

  it('the memory context finds one current row among 1500 excluded rows, and counts at most 1000 of these', async () => {
    await add(person, 'raw', { content: 'mine' });
    await add(person, 'facts', { text: 'Likes tea' });
    await add(person, 'episodes', { title: 'Tea', summary: 'Of tea', ...RECENT_SPAN });
    const many = <Row>(row: Row) => Array.from({ length: 1500 }, () => row);
    await addAll('raw', many({ content: 'guessed', kind: 'reply', origin: 'accepted_prediction' }));
    await addAll('facts', many({ text: 'Lived in Paris', valid_to: '2020-01-01T00:00:00Z' }));
    await system.sql(
      `insert into episodes (id, account_id, title, summary, origin, started_at, ended_at, stale_at, tags, created_at, updated_at)
       select gen_random_uuid(), $1, 'Title', 'Stale', 'model', now(), now(), now(), '{}', now(), now()
         from generate_series(1, 1500)`,
      [person.id],
    );
    const kept = { matched: 1, returned: 1 };
    const { meta } = await completeBundle({});
    assert.deepEqual(meta.counts, { facts: kept, episodes: kept, raw: kept });
    assert.deepEqual(meta.truncated, { facts: false, episodes: false, raw: false });
    const { predicted_origin, expired, stale } = meta.excluded;
    assert.deepEqual([predicted_origin, expired, stale], [1000, 1000, 1000]);
  });

  it('a memory context that cannot hold all rows prefers rows that match the goal to newer rows', async () => {
    const noise = (n: number) =>
      `Note ${n} about the ${['garden', 'kitchen', 'car', 'roof'][n % 4]} and nothing else`;
    await add(person, 'facts', { text: 'Staging listens on port 7431 behind the Halden gateway' });
    await add(person, 'facts', { text: 'Answers in two sentences', pinned: true });
    await add(person, 'raw', {
      content: 'The Halden gateway moved to port 7431',
      kind: 'reply',
      occurred_at: minutesAgo(55),
    });
    await add(person, 'episodes', {
      title: 'Gateway',
      summary: 'The Halden gateway moved',
      started_at: minutesAgo(56),
      ended_at: minutesAgo(55),
    });
    await addAll(
      'facts',
      Array.from({ length: 400 }, (_, n) => ({ text: noise(n) })),
    );
    await addAll(
      'raw',
      Array.from({ length: 400 }, (_, n) => ({ content: noise(n) })),
    );
    await addAll(
      'episodes',
      Array.from({ length: 60 }, (_, n) => ({ title: noise(n), summary: noise(n), ...RECENT_SPAN })),
    );

    const wanted = { max_facts: 2, max_episodes: 1, max_raw: 1 };
    const { facts, raw, episodes, meta } = await bundle({ goal: 'Halden gateway', ...wanted });
    assert.deepEqual(
      facts.map(({ text }) => text.slice(0, 7)),
      ['Staging'],
    );
    assert.match(raw[0]?.content ?? '', /Halden/);
    assert.equal(episodes[0]?.title, 'Gateway');
    assert.deepEqual(meta.truncated, { facts: false, episodes: true, raw: true });
    assert.deepEqual(meta.counts.raw, { matched: 401, returned: 1 });

    const unasked = await bundle(wanted);
    assert.deepEqual(pluck(unasked.facts, 'pinned'), [true, false]);
    assert.deepEqual(unasked.meta.counts.facts, { matched: 402, returned: 2 });
    assert.match(unasked.raw[0]?.content ?? '', /Note 399/);
  });

  it('the memory context finds rows about the query, even if they are old or inflect the words differently', async () => {
    const ago = (days: number) => minutesAgo(days * 24 * 60);
    const say = (content: string, days: number, session_id: string) => ({
      content,
      kind: 'message',
      occurred_at: ago(days),
      session_id,
    });
    await addAll('raw', [
      say('Which package manager should we use for the new service?', 700, 'setup'),
      say('I always went with pnpm, so let us do the same', 699.9, 'setup'),
      ...Array.from({ length: 60 }, (_, n) =>
        say(`Row ${n} about the garden and the roof`, 30 - n / 3, `${n % 9}`),
      ),
    ]);
    await add(person, 'facts', { text: 'Uses pnpm as package manager' });
    await addAll(
      'facts',
      Array.from({ length: 60 }, (_, n) => ({ text: `Fact ${n} about gardens` })),
    );

    const asked = {
      query: 'Which package managers am I using?',
      recency_minutes: null,
      max_facts: 1,
      max_raw: 2,
    };
    const { facts, raw, meta } = await bundle(asked);
    assert.deepEqual(pluck(facts, 'text'), ['Uses pnpm as package manager']);
    // Finds the earlier question, and also its answer, which has no keyword of the query.
    assert.deepEqual(
      raw.map(({ content }) => content.slice(0, 13)),
      ['I always went', 'Which package'],
    );
    assert.deepEqual([meta.window.since, meta.window.recency_minutes], [null, null]);
    assert.deepEqual(meta.filters, { goal: null, tags: [] });
    assert.equal(meta.counts.raw.matched, 62);
  });

  it('a question finds its fact in scripts without spaces too, in the memory context and by search', async () => {
    const asked = {
      我用火狐浏览器: '我用哪个浏览器？',
      歯医者はグラーツにあります: '歯医者はどこにありますか？',
      ตอนเช้าฉันดื่มชาเขียว: 'ฉันดื่มชาอะไร',
      '보고서는 LaTeX로 쓴다': '보고서를 무엇으로 쓰지?',
    };
    for (const text of Object.keys(asked)) await add(person, 'facts', { text });
    for (const [text, query] of Object.entries(asked)) {
      assert.deepEqual(textsOf(await bundle({ query, max_facts: 1 })), [text]);
      const { body } = await person.get<{ results: FactResponse[] }>(
        `/api/memory/facts/?q=${encodeURIComponent(query)}&limit=1`,
      );
      assert.deepEqual(pluck(body.results, 'text'), [text]);
    }
  });

  const said = (content: string, days: number, kind = 'message') => ({
    content,
    kind,
    session_id: `day ${Math.ceil(days)}`,
    occurred_at: minutesAgo(days * 24 * 60),
  });
  /** Returns the first row of the memory context, and of a search. */
  const firstOf = async (query: string) => {
    const { raw } = await bundle({ query, recency_minutes: null, max_raw: 1 });
    const { body } = await person.get<{ results: RawMemoryResponse[] }>(
      `/api/memory/raw/?q=${encodeURIComponent(query)}`,
    );
    return [raw[0]?.content, body.results[0]?.content];
  };

  it('a row that names only the former value is found by a question for the value, and comes first', async () => {
    await addAll('raw', [
      said('I play the clarinet.', 80),
      said('I sold my clarinet, I play the cello now.', 60),
      said('I wear a Garmin Fenix.', 70),
      said('I swapped the Garmin for a Coros Pace.', 20),
      said('The Garmin shop was full again.', 10),
    ]);
    for (const [question, newest] of [
      ['Which instrument do I play?', 'I sold my clarinet, I play the cello now.'],
      ['Which watch do I wear?', 'I swapped the Garmin for a Coros Pace.'],
    ] as const)
      assert.deepEqual(await firstOf(question), [newest, newest]);
  });

  it('of values in English, German, French and Spanish the latest comes first, though its words are fewer', async () => {
    const changes = [
      ['Who is our intern?', 'Our intern is Bronagh.', 'Tariq is the new intern.'],
      ['Was trinke ich morgens?', 'Ich trinke morgens Kaffee.', 'Morgens gibt es nur noch grünen Tee.'],
      ['Où est-ce que j’habite ?', 'J’habite à Rennes.', 'J’ai déménagé à Grenoble cet été.'],
      ['¿Cuánto pago de alquiler?', 'Pago 820 euros de alquiler.', 'Me subieron el alquiler a 890 euros.'],
    ] as const;
    await addAll(
      'raw',
      changes.flatMap(([, before, now], n) => [said(before, 80 - n), said(now, 20 - n)]),
    );
    for (const [question, , newest] of changes) assert.deepEqual(await firstOf(question), [newest, newest]);
  });

  it('what somebody does once with a thing does not take the place of the value', async () => {
    const value = 'My keyboard is a Keychron.';
    await addAll('raw', [said(value, 80), said('I moved the old keyboard on Monday.', 15)]);
    assert.deepEqual(await firstOf('Which keyboard do I use?'), [value, value]);
  });

  it('a fact with the words of the question comes before a later one with related words', async () => {
    const facts = [
      'The time zone is Lisbon time.',
      'The target time for the run is 1:45.',
      'The vet is Dr Moreau.',
      'The doctor is Dr Okafor.',
    ];
    for (const [n, text] of facts.entries())
      await add(person, 'facts', { text, valid_from: minutesAgo((20 - n) * 24 * 60) });
    for (const [question, first] of [
      ['What is my time zone?', facts[0]],
      ['Which vet do we go to?', facts[2]],
    ] as const)
      assert.deepEqual(textsOf(await bundle({ query: question, max_facts: 1 })), [first]);
  });

  it('an answer comes before a row that asks the same, and the latest value first, in the memory context and by search', async () => {
    await addAll('raw', [
      said('My manager is Priya.', 80),
      said('I report to Tomasz now.', 15),
      said('Which database do we use for the shop?', 3, 'prompt'),
      said('PostgreSQL, as everywhere.', 2.9),
      said('Nothing else was said.', 1),
    ]);
    const database = 'PostgreSQL, as everywhere.';
    assert.deepEqual(await firstOf('Which database do we use for the shop?'), [database, database]);
    const manager = 'I report to Tomasz now.';
    assert.deepEqual(await firstOf('Who is my manager?'), [manager, manager]);
  });

  it('the memory context refuses values that are out of range or cannot be stored, and unknown fields', async () => {
    const validationErrorsOf = async (body: object) => {
      const { status, body: answer } = await person.post<ValidationErrorBody>(CONTEXT, body);
      assert.equal(status, 422);
      return answer.detail.map(({ loc, type }) => `${loc.join('.')} ${type}`);
    };
    for (const [name, most] of [
      ['recency_minutes', 10_080],
      ['max_facts', 100],
      ['max_episodes', 50],
      ['max_raw', 500],
    ] as const) {
      assert.deepEqual(await validationErrorsOf({ [name]: 0 }), [`body.${name} greater_than_equal`]);
      assert.deepEqual(await validationErrorsOf({ [name]: most + 1 }), [`body.${name} less_than_equal`]);
      assert.deepEqual(await validationErrorsOf({ [name]: 1.5 }), [`body.${name} int_type`]);
      assert.equal((await bundle({ [name]: most })).meta.ranking, 'v4');
    }
    assert.deepEqual(await validationErrorsOf({ query: 'a'.repeat(2001) }), ['body.query string_too_long']);
    assert.deepEqual(await validationErrorsOf({ text: 'x' }), ['body.text extra_forbidden']);
    assert.deepEqual(await validationErrorsOf({ goal: null }), ['body.goal string_type']);
    assert.deepEqual(await validationErrorsOf({ goal: 'a\0' }), ['body.goal value_error']);
    assert.deepEqual(await validationErrorsOf({ goal: '\ud800' }), ['body.goal value_error']);
    assert.deepEqual(await validationErrorsOf({ tags: [''] }), ['body.tags.0 string_too_short']);
    assert.deepEqual(await validationErrorsOf({ tags: ['a'.repeat(81)] }), ['body.tags.0 string_too_long']);
  });

  it('the memory context returns only as many large rows as fit, latest first, and reports the truncation', async () => {
    // Each character takes four bytes in JSON.
    const large = '😀'.repeat(7900);
    const rows = Array.from({ length: 180 }, (_, n) => {
      return { content: `row ${n} ${large}`, occurred_at: minutesAgo(50 - n / 10) };
    });
    for (let at = 0; at < rows.length; at += 90) await addAll('raw', rows.slice(at, at + 90));
    await add(person, 'facts', { text: 'Likes tea' });
    // Large rows are also left out when reading them takes too long.
    const { raw, facts, meta } = await until(async () => {
      const found = await bundle({ max_raw: 500 });
      return found.raw.length > 100 && found;
    }, 30_000);
    const size = Buffer.byteLength(JSON.stringify({ raw, facts, meta }));
    assert.ok(size < 4.5 * 1024 * 1024, `${size} bytes`);
    assert.ok(raw.length < 180, `${raw.length} rows`);
    assert.deepEqual(meta.counts.raw, { matched: 180, returned: raw.length });
    assert.deepEqual(meta.truncated, { facts: false, episodes: false, raw: true });
    assert.match(raw[0]?.content ?? '', /^row 179 /);
    assert.equal(facts.length, 1);
    const few = await completeBundle({ max_raw: 20 });
    assert.deepEqual([few.raw.length, few.raw[0]?.content.slice(0, 8)], [20, 'row 179 ']);
    const { raw: about } = await completeBundle({ max_raw: 2, goal: 'row 17' });
    assert.ok(about.some(({ content }) => content.startsWith('row 17 ')));
  });
});
