import assert from 'node:assert/strict';
import { newId } from '../../../shared/ids.ts';
import type { ForgetReceipt } from '../../../shared/schemas/forgetting.ts';
import type { EpisodeResponse, FactResponse } from '../../../shared/schemas/memory.ts';
import { clientWithKey, signUp, type UserClient } from '../../support/account.ts';
import { add, addSynced, forget, quote } from '../../support/memory.ts';
import { pluck } from '../../support/pluck.ts';
import { event, post, recording } from '../../support/recording.ts';
import { useSystem } from '../../support/system.ts';

const NONE = { episodes: { deleted: 0, stale: 0 }, facts: { deleted: 0, stale: 0, restored: 0 } };

describe('deleting memory', () => {
  const system = useSystem({ workers: 0 });
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  const say = (content: string, part: object = {}) => add(person, 'raw', { content, kind: 'reply', ...part });
  const episodeOf = (raw: { id: string }[], part: object = {}) =>
    add(person, 'episodes', {
      title: 'Title',
      summary: 'Summary',
      raw_ids: pluck(raw, 'id'),
      ...part,
    });
  const statusOf = async (tier: string, { id }: { id: string }) =>
    (await person.get(`/api/memory/${tier}/${id}/`)).status;
  const read = async <Row>(tier: string, { id }: { id: string }) =>
    (await person.get<Row>(`/api/memory/${tier}/${id}/`)).body;
  /** Marks an episode or a fact as written by a model. */
  const byModel = (table: 'episodes' | 'facts', { id }: { id: string }) =>
    system.sql(`update ${table} set origin = 'model', model = 'm' where id = $1`, [id]);

  it('deleting a raw row deletes the rows of every tier that were derived from it alone', async () => {
    const raw = await say('I always take the train');
    const episode = await episodeOf([raw]);
    const fact = await add(person, 'facts', { text: 'Travels by train', episode_ids: [episode.id] });
    await person.request('PATCH', `/api/memory/facts/${fact.id}/`, { text: 'Takes the train' });
    const own = await add(person, 'facts', { text: 'Likes trains' });
    const { id, ...changed } = await forget(person, 'raw', raw);
    assert.equal(id, raw.id);
    assert.deepEqual(changed, {
      event_deleted: false,
      episodes: { deleted: 1, stale: 0 },
      facts: { deleted: 1, stale: 0, restored: 0 },
    });
    for (const [tier, row] of Object.entries({ raw, episodes: episode, facts: fact }))
      assert.equal(await statusOf(tier, row), 404, tier);
    assert.equal(await statusOf('facts', own), 200);
    for (const table of ['memory_links', 'raw_memories', 'episodes']) {
      const { rowCount } = await system.database.pool.query(`select from ${table} where account_id = $1`, [
        person.id,
      ]);
      assert.equal(rowCount, 0, table);
    }
    const { rowCount } = await system.database.pool.query('select from facts where account_id = $1', [
      person.id,
    ]);
    assert.equal(rowCount, 1);
    assert.equal((await person.request('DELETE', `/api/memory/raw/${raw.id}/`)).status, 404);
  });

  it('deleting a raw row erases the text of episodes that a model wrote from the row, or that repeat the row', async () => {
    const [gone, kept] = [await say('my door code is four two one seven'), await say('water the plants')];
    const theirs = await episodeOf([gone, kept], { title: 'Chores', summary: 'Plants, and a code' });
    await byModel('episodes', theirs);
    const own = await episodeOf([gone, kept], { title: 'Chores', summary: 'Watered the plants' });
    const copied = await episodeOf([gone, kept], { summary: 'She said: my door code is four two one' });
    const receipt = await forget(person, 'raw', gone);
    assert.deepEqual(receipt.episodes, { deleted: 0, stale: 2 });
    for (const episode of [theirs, copied]) {
      const { title, summary, stale_at, raw_ids } = await read<EpisodeResponse>('episodes', episode);
      assert.deepEqual([title, summary, raw_ids], ['', '', [kept.id]]);
      assert.ok(stale_at);
    }
    const { summary, stale_at } = await read<EpisodeResponse>('episodes', own);
    assert.deepEqual([summary, stale_at], ['Watered the plants', null]);

    const anew = { title: 'Chores', summary: 'Plants' };
    const path = `/api/memory/episodes/${theirs.id}/`;
    const { body } = await person.request<EpisodeResponse>('PATCH', path, anew);
    assert.deepEqual([body.summary, body.stale_at], ['Plants', null]);
  });

  it('a fact is deleted when the last quoted row by the person is deleted, even if the fact also quotes an agent', async () => {
    const spoken = await say('we deploy on fridays');
    const repeated = await say('yes, we deploy on fridays');
    const echoed = await add(person, 'raw', {
      content: 'So you deploy on fridays.',
      kind: 'message',
      agent: 'a',
    });
    const fact = await add(person, 'facts', { text: 'Deploys on fridays' });
    for (const source of [spoken, repeated, echoed]) await quote(system, person, fact, source);
    assert.deepEqual((await forget(person, 'raw', spoken)).facts, NONE.facts);
    assert.equal((await read<FactResponse>('facts', fact)).text, 'Deploys on fridays');
    assert.deepEqual((await forget(person, 'raw', repeated)).facts, { deleted: 1, stale: 0, restored: 0 });
    assert.equal(await statusOf('facts', fact), 404);
  });

  it('deleting a raw row erases the text of a fact that repeats the row, even if the fact has other sources', async () => {
    const [gone, kept] = [
      await say('my sister Ada lives at number nine Elm Street'),
      await say('I have a sister'),
    ];
    const fact = await add(person, 'facts', {
      text: 'Has a sister, Ada, who lives at number nine Elm Street',
    });
    for (const source of [gone, kept]) await quote(system, person, fact, source);
    // Adds a former wording of the fact, which the receipt does not count.
    await person.request('PATCH', `/api/memory/facts/${fact.id}/`, { confidence: 0.9 });
    assert.deepEqual((await forget(person, 'raw', gone)).facts, { deleted: 0, stale: 1, restored: 0 });
    const stale = await read<FactResponse>('facts', fact);
    assert.equal(stale.text, '');
    assert.ok(stale.stale_at);
  });

  it("a superseded fact is valid again once its successor's last source is deleted", async () => {
    const source = await say('I moved to Oslo');
    const next = await add(person, 'facts', { text: 'Lives in Oslo', valid_from: '2026-05-01T00:00:00Z' });
    await quote(system, person, next, source);
    const old = await add(person, 'facts', {
      text: 'Lives in Bergen',
      valid_to: '2026-05-01T00:00:00Z',
      superseded_by: next.id,
    });
    assert.deepEqual((await forget(person, 'raw', source)).facts, { deleted: 1, stale: 0, restored: 1 });
    const restored = await read<FactResponse>('facts', old);
    assert.deepEqual(
      [restored.superseded_by, restored.invalidated_at, restored.valid_to],
      [null, null, null],
    );
  });

  it("deleting a fact's successor removes the fact's end, even after a change of the successor's start", async () => {
    const [begins, earlier, later] = ['05', '04', '07'].map((month) => `2026-${month}-01T00:00:00.000Z`);
    for (const [before, moved] of [
      [null, earlier],
      [null, later],
      [null, null],
      ['2026-04-15T00:00:00.000Z', earlier],
    ]) {
      const next = await add(person, 'facts', { text: 'Lives in Oslo', valid_from: begins });
      const old = await add(person, 'facts', {
        text: 'Lives in Bergen',
        valid_from: before,
        valid_to: begins,
        superseded_by: next.id,
      });
      const path = `/api/memory/facts/${next.id}/`;
      assert.equal((await person.request('PATCH', path, { valid_from: moved })).status, 200);
      const end = moved && before && moved < before ? before : moved;
      assert.equal((await read<FactResponse>('facts', old)).valid_to, end);
      assert.equal((await forget(person, 'facts', next)).facts.restored, 1);
      assert.equal((await read<FactResponse>('facts', old)).valid_to, null);
    }
  });

  it('deleting a fact does not restore a superseded fact that has ended', async () => {
    const next = await add(person, 'facts', { text: 'Lives in Rome' });
    const span = { valid_from: '2024-01-01T00:00:00Z', valid_to: '2025-01-01T00:00:00Z' };
    const old = await add(person, 'facts', { text: 'Lives in Bergen', ...span, superseded_by: next.id });
    assert.equal((await forget(person, 'facts', next)).facts.restored, 0);
    assert.equal((await read<FactResponse>('facts', old)).superseded_by, null);
  });

  it('a fact whose earliest quoted row is deleted starts at the next quoted row, but never after its own end', async () => {
    const [said, end, again] = ['05', '07', '09'].map((day) => `2026-05-${day}T00:00:00.000Z`);
    const gone = await say('I stay in Rome until the seventh', { occurred_at: said });
    const kept = await say('I stayed in Rome', { occurred_at: again });
    const fact = await add(person, 'facts', { text: 'Stays in Rome', valid_from: said, valid_to: end });
    for (const source of [gone, kept]) await quote(system, person, fact, source);
    await forget(person, 'raw', gone);
    const { valid_from, valid_to } = await read<FactResponse>('facts', fact);
    assert.deepEqual([valid_from, valid_to], [end, end]);
  });

  it("a superseded fact never ends before it starts, even if its successor's start moves to an earlier time", async () => {
    const [earliest, begins, moved] = ['01', '02', '03'].map((month) => `2026-${month}-01T00:00:00.000Z`);
    const kept = await say('Oslo is home', { occurred_at: earliest });
    const gone = await say('I moved to Oslo', { occurred_at: moved });
    const next = await add(person, 'facts', { text: 'Lives in Oslo', valid_from: moved });
    for (const source of [kept, gone]) await quote(system, person, next, source);
    const span = { valid_from: begins, valid_to: moved, superseded_by: next.id };
    const old = await add(person, 'facts', { text: 'Lives in Bergen', ...span });
    await forget(person, 'raw', gone);
    const { status } = await person.request('PATCH', `/api/memory/facts/${old.id}/`, { pinned: true });
    assert.equal(status, 200);
    assert.equal((await forget(person, 'facts', next)).facts.restored, 1);
    assert.equal((await read<FactResponse>('facts', old)).valid_to, null);
  });

  for (const [column, other] of [
    ['superseded_by', 'ended_by'],
    ['ended_by', 'superseded_by'],
  ])
    it(`deleting one of two facts that point to each other by ${column} and ${other} leaves the other valid`, async () => {
      const [one, two] = [
        await add(person, 'facts', { text: 'One' }),
        await add(person, 'facts', { text: 'Two' }),
      ];
      for (const [from, to, by] of [
        [one, two, column],
        [two, one, other],
      ] as const)
        await system.sql(`update facts set ${by} = $1 where id = $2`, [to.id, from.id]);
      await forget(person, 'facts', two);
      const rows = await system.sql(
        'select superseded_by, ended_by, invalidated_at, valid_to from facts where id = $1',
        [one.id],
      );
      assert.deepEqual(rows, [{ superseded_by: null, ended_by: null, invalidated_at: null, valid_to: null }]);
    });

  it('deleting a fact in the middle of a chain of superseded facts links its predecessor to its successor', async () => {
    const last = await add(person, 'facts', { text: 'Lives in Rome' });
    const middle = await add(person, 'facts', { text: 'Lives in Oslo' });
    const first = await add(person, 'facts', { text: 'Lives in Bergen', superseded_by: middle.id });
    await person.request('PATCH', `/api/memory/facts/${middle.id}/`, { superseded_by: last.id });
    assert.deepEqual((await forget(person, 'facts', middle)).facts, NONE.facts);
    assert.equal((await read<FactResponse>('facts', first)).superseded_by, last.id);
    assert.equal((await forget(person, 'facts', last)).facts.restored, 1);
    assert.equal((await read<FactResponse>('facts', first)).superseded_by, null);
  });

  it('deleting an episode deletes the facts derived from it alone, and keeps its raw rows', async () => {
    const raw = await say('we deploy on fridays');
    const episode = await episodeOf([raw], { summary: 'Deploys happen on fridays' });
    const fact = await add(person, 'facts', { text: 'Fridays are busy', episode_ids: [episode.id] });
    const quoted = await add(person, 'facts', { text: 'Deploys on fridays', episode_ids: [episode.id] });
    await quote(system, person, quoted, raw);
    const { id, ...changed } = await forget(person, 'episodes', episode);
    assert.equal(id, episode.id);
    assert.deepEqual(changed, {
      event_deleted: false,
      ...NONE,
      facts: { deleted: 1, stale: 0, restored: 0 },
    });
    assert.deepEqual([await statusOf('raw', raw), await statusOf('facts', fact)], [200, 404]);
    const { text, episode_ids } = await read<FactResponse>('facts', quoted);
    assert.deepEqual([text, episode_ids], ['Deploys on fridays', []]);
  });

  it('deleting a synced raw row leaves a tombstone of its event, and deletes the event only with `purge_event`', async () => {
    const [one, two] = [
      event({ type: 'user.reply', reply: 'yes' }),
      event({ type: 'user.reply', reply: 'no' }),
    ];
    await post(person, [one, two]);
    const synced = [];
    for (const { id } of [one, two])
      synced.push(await addSynced(system, person, { content: 'c', event_id: id }));
    const [first = { id: '' }, second = { id: '' }] = synced;
    assert.equal((await forget(person, 'raw', first)).event_deleted, false);
    assert.equal((await recording.event(person, one.id)).status, 200);
    assert.equal((await forget(person, 'raw', second, '?purge_event=true')).event_deleted, true);
    assert.equal((await recording.event(person, two.id)).status, 404);
    const rows = await system.sql(
      `select exists (select from memory_tombstones where account_id = $1 and event_hash = event_hash($1, e.id)) as buried
         from unnest($2::text[]) e (id)`,
      [person.id, [one.id, two.id, newId()]],
    );
    assert.deepEqual(pluck(rows, 'buried'), [true, true, false]);
  });

  it('a purged event that is posted again counts as a duplicate, and is not stored', async () => {
    const purged = event({ type: 'user.reply', reply: 'yes' });
    await post(person, [purged]);
    const row = await addSynced(system, person, { content: 'yes', event_id: purged.id });
    await forget(person, 'raw', row, '?purge_event=true');
    const usage = async () =>
      await system.sql('select * from account_usage where account_id = $1', [person.id]);
    const before = await usage();
    const { accepted, duplicates } = (await post(person, [purged])).body;
    assert.deepEqual({ accepted, duplicates }, { accepted: 0, duplicates: 1 });
    assert.equal((await recording.event(person, purged.id)).status, 404);
    assert.deepEqual(await usage(), before);
  });

  describe('forgetting many rows', () => {
    let person: UserClient;
    beforeEach(async () => {
      person = await signUp(system);
    });

    const forget = (body: object, by: UserClient = person) =>
      by.request<ForgetReceipt>('POST', '/api/memory/forget/', body);
    const left = async (tier: string) => {
      const { body } = await person.get<{ results: { id: string }[] }>(`/api/memory/${tier}/?limit=200`);
      return pluck(body.results, 'id');
    };

    it('100 facts are forgotten with one receipt, and none that is not of the account', async () => {
      const facts = Array.from({ length: 100 }, (_, nth) => ({ text: `Fact ${nth}` }));
      const added = await person.post<{ id: string }[]>('/api/memory/facts/', facts);
      const stranger = await signUp(system);
      const others = await add(stranger, 'facts', { text: 'Not yours' });
      const kept = await add(person, 'facts', { text: 'Kept' });
      const ids = [...pluck(added.body, 'id').slice(0, 98), others.id, newId()];
      const { status, body, text } = await forget({ tier: 'facts', ids });
      assert.equal(status, 200, text);
      assert.deepEqual([body.forgotten, body.facts.restored], [98, 0]);
      assert.deepEqual((await left('facts')).sort(), [kept.id, ...pluck(added.body, 'id').slice(98)].sort());
      assert.equal((await stranger.get(`/api/memory/facts/${others.id}/`)).status, 200);
      assert.equal((await forget({ tier: 'facts', ids })).body.forgotten, 0);
      const erased = await system.sql(`select from erasures where account_id = $1 and what = 'fact'`, [
        person.id,
      ]);
      assert.ok(erased.length >= 98);
    });

    it('facts that were superseded by many forgotten ones hold again, once', async () => {
      const old = await add(person, 'facts', { text: 'Lives in Ulm' });
      const [one, two] = [
        await add(person, 'facts', { text: 'Lives in Bonn' }),
        await add(person, 'facts', { text: 'Lives in Kiel' }),
      ];
      await system.sql('update facts set superseded_by = $2, invalidated_at = now() where id = $1', [
        old.id,
        one.id,
      ]);
      await system.sql('update facts set superseded_by = $2, invalidated_at = now() where id = $1', [
        one.id,
        two.id,
      ]);
      const { body } = await forget({ tier: 'facts', ids: [one.id, two.id] });
      assert.deepEqual([body.forgotten, body.facts.restored], [2, 1]);
      assert.deepEqual(await left('facts'), [old.id]);
    });

    it('messages are forgotten with what was derived from them alone, and with their events where that is asked', async () => {
      const said = [
        await add(person, 'raw', { content: 'I take the train', kind: 'reply' }),
        await add(person, 'raw', { content: 'Always', kind: 'reply' }),
      ];
      const synced = await addSynced(system, person, { content: 'Window seat', event_id: newId() });
      const episode = await add(person, 'episodes', {
        title: 'Travel',
        summary: 'Trains',
        raw_ids: pluck(said, 'id'),
      });
      await add(person, 'facts', { text: 'Travels by train', episode_ids: [episode.id] });
      const ids = [...pluck(said, 'id'), synced.id];
      const { body, text } = await forget({ tier: 'raw', ids, purge_event: true });
      assert.deepEqual([body.forgotten, body.episodes.deleted, body.facts.deleted], [3, 1, 1], text);
      for (const tier of ['raw', 'episodes', 'facts']) assert.deepEqual(await left(tier), [], tier);
    });

    it('only a key with the scope `forget` may forget many rows, and at most 100 at once', async () => {
      const ids = [newId()];
      assert.equal(
        (await forget({ tier: 'facts', ids }, await clientWithKey(person, ['read', 'write']))).status,
        403,
      );
      assert.equal(
        (await forget({ tier: 'facts', ids }, await clientWithKey(person, ['forget']))).status,
        200,
      );
      assert.equal((await forget({ tier: 'facts', ids: Array.from({ length: 101 }, newId) })).status, 422);
      assert.equal((await forget({ tier: 'facts', ids: [ids[0], ids[0]] })).status, 422);
      assert.equal((await forget({ tier: 'profile', ids })).status, 422);
    });
  });
});
