import assert from 'node:assert/strict';
import { newId } from '../../../shared/ids.ts';
import type { ForgetReceipt } from '../../../shared/schemas/forgetting.ts';
import { clientWithKey, signUp, type UserClient } from '../../support/account.ts';
import { add, addSynced } from '../../support/memory.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';

describe('forgetting many rows', () => {
  const system = useSystem({ workers: 0 });
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
    assert.equal((await forget({ tier: 'facts', ids }, await clientWithKey(person, ['forget']))).status, 200);
    assert.equal((await forget({ tier: 'facts', ids: Array.from({ length: 101 }, newId) })).status, 422);
    assert.equal((await forget({ tier: 'facts', ids: [ids[0], ids[0]] })).status, 422);
    assert.equal((await forget({ tier: 'profile', ids })).status, 422);
  });
});
