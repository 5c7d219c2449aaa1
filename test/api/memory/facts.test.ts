import assert from 'node:assert/strict';
import { newId } from '../../../shared/ids.ts';
import type { ValidationErrorBody } from '../../../shared/schemas/errors.ts';
import type { FactResponse, MemoryStats, ProfileResponse } from '../../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import { predictionBody } from '../../support/client.ts';
import { connect, connectingApp } from '../../support/connection.ts';
import { add, forget, quote } from '../../support/memory.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';

const FACTS = '/api/memory/facts/';
const PROFILE = '/api/memory/profile/';

describe('facts', () => {
  const system = useSystem();
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  const read = async (id: string) => (await person.get<FactResponse>(`${FACTS}${id}/`)).body;
  const list = async (query = '') =>
    (await person.get<{ results: FactResponse[] }>(FACTS + query)).body.results;
  const patch = async (id: string, change: object) => {
    const { status, text, body } = await person.request<FactResponse>('PATCH', `${FACTS}${id}/`, change);
    assert.equal(status, 200, text);
    return body;
  };
  const readMemoryRevision = async (): Promise<number> => {
    const sql = 'select memory_revision::int as revision from accounts where id = $1';
    return Number((await system.sql(sql, [person.id]))[0]?.['revision']);
  };
  const validationErrorsOf = async (method: string, path: string, body: object) => {
    const reply = await person.request<ValidationErrorBody>(method, path, body);
    assert.equal(reply.status, 422, reply.text);
    return reply.body.detail.map(({ loc }) => loc.join('.'));
  };

  it('a fact keeps its id when its text changes, and its former wordings can be listed', async () => {
    const fact = await add(person, 'facts', { text: 'Lives in Bergen', tags: ['home'], kind: 'identity' });
    const changed = await patch(fact.id, { text: 'Lives in Oslo' });
    assert.equal(changed.id, fact.id);
    assert.deepEqual(
      [changed.text, changed.kind, changed.superseded_by],
      ['Lives in Oslo', 'identity', null],
    );
    assert.ok(changed.recorded_at > fact.recorded_at);
    await patch(fact.id, { text: 'Lives in Rome' });

    assert.deepEqual(pluck(await list(), 'text'), ['Lives in Rome']);
    const history = await list(`?revision_of=${fact.id}`);
    assert.deepEqual(pluck(history, 'text').sort(), ['Lives in Bergen', 'Lives in Oslo']);
    for (const { superseded_by, revision_of } of history)
      assert.deepEqual([superseded_by, revision_of], [fact.id, fact.id]);
    const [first] = history.filter(({ text }) => text === 'Lives in Bergen');
    assert.deepEqual([first?.recorded_at, first?.invalidated_at], [fact.recorded_at, changed.recorded_at]);

    const { status } = await person.request('PATCH', `${FACTS}${first?.id}/`, { text: 'Lives in Rome' });
    assert.equal(status, 404);
  });

  it('an empty PATCH of a fact changes nothing, not even the memory revision', async () => {
    const episode = await add(person, 'episodes', { title: 'Tea', summary: 'Tea' });
    const fact = await add(person, 'facts', { text: 'Likes tea', episode_ids: [episode.id] });
    const before = await readMemoryRevision();
    assert.deepEqual(await patch(fact.id, {}), fact);
    assert.equal(await readMemoryRevision(), before);
    const former = await add(person, 'facts', { text: 'Likes mate' });
    await patch(former.id, { text: 'Likes cocoa' });
    const [wording] = await list(`?revision_of=${former.id}`);
    for (const id of [newId(), wording?.id])
      assert.equal((await person.request('PATCH', `${FACTS}${id}/`, {})).status, 404);
  });

  it('a fact shows its sources, with the quotes that support it', async () => {
    const said = await add(person, 'raw', { content: 'use pnpm here', kind: 'reply' });
    const episode = await add(person, 'episodes', { title: 'Build', summary: 'pnpm', raw_ids: [said.id] });
    const fact = await add(person, 'facts', { text: 'Uses pnpm', episode_ids: [episode.id] });
    await quote(system, person, fact, said);
    const { body } = await person.get<{ sources: object[]; episode_ids: string[] }>(`${FACTS}${fact.id}/`);
    assert.deepEqual(body.episode_ids, [episode.id]);
    assert.deepEqual(body.sources, [
      { tier: 'raw', id: said.id, quote: 'use pnpm here' },
      { tier: 'episode', id: episode.id, quote: null },
    ]);
  });

  it('a fact may supersede another fact of the same account, but not in a circle', async () => {
    const old = await add(person, 'facts', { text: 'Reports to Ada' });
    const next = await add(person, 'facts', { text: 'Reports to Bob' });
    const superseded = await patch(old.id, { superseded_by: next.id });
    assert.equal(superseded.superseded_by, next.id);
    assert.deepEqual(pluck(await list(`?superseded_by=${next.id}`), 'id'), [old.id]);
    assert.ok(superseded.invalidated_at);
    const same = await patch(old.id, { superseded_by: next.id });
    assert.equal(same.invalidated_at, superseded.invalidated_at);
    const foreign = await add(await signUp(system), 'facts', { text: 'x' });
    const path = `${FACTS}${next.id}/`;
    for (const id of [old.id, next.id, foreign.id, newId()])
      assert.deepEqual(await validationErrorsOf('PATCH', path, { superseded_by: id }), [
        'body.superseded_by',
      ]);
    const again = await patch(old.id, { superseded_by: null });
    assert.deepEqual([again.superseded_by, again.invalidated_at], [null, null]);
  });

  it('a fact with an invalid time span, confidence or reference, or a change of a read-only field, is 422', async () => {
    const [from, to] = ['2026-05-02T00:00:00Z', '2026-05-01T00:00:00Z'];
    const span = { text: 't', valid_from: from, valid_to: to };
    assert.deepEqual(await validationErrorsOf('POST', FACTS, span), ['body.valid_to']);
    const early = { text: 't', valid_from: '1999-01-01T00:00:00Z' };
    assert.deepEqual(await validationErrorsOf('POST', FACTS, early), ['body.valid_from']);
    assert.deepEqual(await validationErrorsOf('POST', FACTS, { text: 't', confidence: 1.1 }), [
      'body.confidence',
    ]);
    assert.deepEqual(await validationErrorsOf('POST', FACTS, { text: 't', episode_ids: [newId()] }), [
      'body.episode_ids.0',
    ]);
    const fact = await add(person, 'facts', { text: 't', valid_from: from });
    const path = `${FACTS}${fact.id}/`;
    assert.deepEqual(await validationErrorsOf('PATCH', path, { valid_to: to }), ['body.valid_to']);
    assert.equal((await patch(fact.id, { valid_from: null, valid_to: to })).valid_from, null);
    assert.deepEqual(await validationErrorsOf('PATCH', path, { valid_from: from }), ['body.valid_from']);
    for (const field of ['id', 'created_at', 'revision_of', 'recorded_at', 'invalidated_at', 'origin'])
      assert.deepEqual(await validationErrorsOf('PATCH', path, { [field]: 'x' }), [`body.${field}`]);
  });

  it('an account has one profile, and a write changes only the fields that it contains', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, text } = await person.request(method, PROFILE);
      assert.equal(status, 404);
      assert.match(text, /There is no profile yet/);
    }
    const first = await person.post<ProfileResponse>(PROFILE, { data: { a: { b: 1 } } });
    assert.equal(first.status, 201);
    assert.deepEqual([first.body.data, first.body.summary, first.body.revision], [{ a: { b: 1 } }, '', 1]);
    const second = await person.post<ProfileResponse>(PROFILE, { summary: 'kind' });
    assert.equal(second.status, 200);
    assert.deepEqual(
      [second.body.data, second.body.summary, second.body.revision],
      [{ a: { b: 1 } }, 'kind', 2],
    );
    const third = await person.post<ProfileResponse>(PROFILE, { data: { c: null } });
    assert.deepEqual(third.body.data, { c: null });
    assert.deepEqual((await person.get(PROFILE)).body, third.body);
    for (const data of [{ a: '\0' }, { a: 'x'.repeat(64_000) }])
      assert.deepEqual(await validationErrorsOf('POST', PROFILE, { data }), ['body.data']);
    assert.equal((await person.request('DELETE', PROFILE)).status, 204);
    assert.equal((await person.get(PROFILE)).status, 404);
  });

  it('memory stats count rows in total and since a time, without former wordings of facts', async () => {
    const stats = async (query = '') => (await person.get<MemoryStats>(`/api/memory/stats/${query}`)).body;
    assert.deepEqual(await stats(), {
      profile: { count: 0, last_updated_at: null },
      facts: { count: 0, last_updated_at: null },
      episodes: { count: 0, last_updated_at: null },
      raw: { count: 0, last_updated_at: null },
    });
    const { created_at: since } = await add(person, 'raw', {
      content: 'a',
      occurred_at: '2020-01-01T00:00:00Z',
    });
    const fact = await add(person, 'facts', { text: 'Likes tea' });
    const { updated_at } = await patch(fact.id, { text: 'Likes coffee' });
    const counted = await stats(`?since=${since}`);
    assert.deepEqual(counted.raw, { count: 1, last_updated_at: since, count_since: 1 });
    assert.deepEqual(counted.facts, { count: 1, last_updated_at: updated_at, count_since: 1 });
    const { facts } = await stats('?since=2999-01-01T00:00:00Z');
    assert.deepEqual([facts.count, facts.count_since], [1, 0]);
  });

  it('concurrent changes of memory are all kept, and each increments the memory revision', async () => {
    const fact = await add(person, 'facts', { text: 'Wording 0' });
    const before = await readMemoryRevision();
    const wordings = Array.from({ length: 8 }, (_, place) => `Wording ${place + 1}`);
    await Promise.all(
      wordings.flatMap((text) => [patch(fact.id, { text }), add(person, 'raw', { content: text })]),
    );
    assert.equal(await readMemoryRevision(), before + 16);
    const history = await list(`?revision_of=${fact.id}`);
    const all = [await read(fact.id), ...history].map(({ text }) => text);
    assert.deepEqual(all.sort(), ['Wording 0', ...wordings]);
    await person.request('PATCH', `${FACTS}${fact.id}/`, { text: '' });
    assert.equal(await readMemoryRevision(), before + 16);
  });

  it('a change of a fact or the profile changes the profile_revision of the next connected prediction', async () => {
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    const seen = new Set<string>();
    const predict = async () => {
      const { status, text, body } = await app.predict(predictionBody({ connection_id }));
      assert.equal(status, 200, text);
      assert.ok(!seen.has(body.profile_revision), 'the revision did not change');
      seen.add(body.profile_revision);
    };
    await predict();
    const fact = await add(person, 'facts', { text: 'Reports to Ada' });
    await predict();
    await patch(fact.id, { text: 'Reports to Bob' });
    await predict();
    const memoryOfCall = async (nth: number) => (await system.provider.called(nth)).record.known;
    const third = await memoryOfCall(3);
    assert.deepEqual([third?.profile, third?.facts.length], [null, 1]);
    assert.match(third?.facts[0] ?? '', /^\d{4}-\d\d-\d\d Reports to Bob$/);
    await person.post(PROFILE, { summary: 'kind' });
    await predict();
    await forget(person, 'facts', fact);
    await predict();
    const { profile, facts } = (await memoryOfCall(5)) ?? {};
    assert.deepEqual([profile, facts], [{ summary: 'kind', data: {} }, []]);
  });
});
