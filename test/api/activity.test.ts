import assert from 'node:assert/strict';
import type { ActivityResponse } from '../../shared/schemas/activity.ts';
import { signUp, type UserClient } from '../support/account.ts';
import * as fake from '../support/fake-provider.ts';
import { add } from '../support/memory.ts';
import { feedback, predicted, proposing } from '../support/replies.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('account’s activity', () => {
  let system: System;
  before(async () => {
    system = await startSystem({ env: { MODEL_PRICES: 'fake-model=0.15:0.6' } });
  });
  after(() => system?.stop());

  const read = (person: UserClient, query = '') =>
    person.request<ActivityResponse>('GET', `/api/activity/${query}`);
  const today = async (person: UserClient) => (await read(person, '?days=1')).body.days[0];

  it('an account’s activity has the last days in their order, each with nothing where nothing happened', async () => {
    const ann = await signUp(system);
    const { status, body } = await read(ann);
    assert.equal(status, 200);
    assert.equal(body.days.length, 30);
    const dates = body.days.map(({ date }) => date);
    assert.deepEqual(dates, dates.toSorted());
    assert.equal(dates.at(-1), new Date().toISOString().slice(0, 10));
    const { by_status, cost_cents, ...counts } = body.days[0] ?? assert.fail();
    assert.deepEqual(Object.values(by_status), [0, 0, 0, 0, 0, 0]);
    assert.equal(cost_cents, 0);
    assert.deepEqual(counts, {
      date: dates[0],
      characters_saved: 0,
      facts: 0,
      episodes: 0,
      raw: 0,
      model_calls: 0,
    });
  });

  it('an account’s activity counts predictions by their state, what they saved, what was learnt and what the models cost', async () => {
    const ann = await signUp(system);
    system.provider.respond(proposing([{ response: 'Blue' }]));
    const [first, second] = [await predicted(ann, { threshold: 1 }), await predicted(ann, { threshold: 1 })];
    await feedback(ann, first, { status: 'accepted' });
    await feedback(ann, second, { status: 'rejected' });
    await add(ann, 'raw', { content: 'I like tea' });
    await add(ann, 'facts', { text: 'Likes tea.' });
    const day = await until(async () => {
      const day = await today(ann);
      return day?.model_calls === 2 && day;
    });
    assert.deepEqual([day.by_status.accepted, day.by_status.rejected, day.by_status.escalated], [1, 1, 0]);
    assert.deepEqual([day.characters_saved, day.raw, day.facts, day.episodes], [4, 1, 1, 0]);
    assert.ok((day.cost_cents ?? 0) > 0);
  });

  it('an account’s activity begins its days where the person’s clock does, and shows nobody else’s', async () => {
    const [ann, bob] = [await signUp(system), await signUp(system)];
    const { id } = await add(ann, 'raw', { content: 'Just before midnight' });
    await system.database.pool.query(
      `update raw_memories set created_at = date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '30 minutes' where id = $1`,
      [id],
    );
    const rowsOf = async (person: UserClient, minutes: number) =>
      (await read(person, `?days=2&utc_offset_minutes=${minutes}`)).body.days.map(({ raw }) => raw);
    assert.deepEqual(await rowsOf(ann, 0), [1, 0]);
    // An hour further east it was today; which day that is now depends on the hour.
    const east = await rowsOf(ann, 60);
    assert.equal(east[new Date().getUTCHours() === 23 ? 0 : 1], 1);
    assert.deepEqual(await rowsOf(bob, 0), [0, 0]);
  });

  it('an account’s activity says which part of the query is wrong', async () => {
    const ann = await signUp(system);
    for (const query of ['?days=0', '?days=91', '?utc_offset_minutes=900', '?utc_offset_minutes=x'])
      assert.equal((await read(ann, query)).status, 422, query);
    assert.equal((await read(ann, '?utc_offset_minutes=-480')).status, 200);
  });

  it('an account’s activity has no cost where a model has no price', async () => {
    const other = await startSystem();
    try {
      const ann = await signUp(other);
      other.provider.next(fake.ok({ continuation: ' x' }));
      await ann.request('POST', '/api/predictions/draft/', { draft: 'It costs' });
      await until(async () => {
        const { body } = await read(ann, '?days=1');
        return body.days[0]?.model_calls === 1 && body.days[0].cost_cents === null;
      });
    } finally {
      await other.stop();
    }
  });
});
