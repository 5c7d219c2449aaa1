import assert from 'node:assert/strict';
import { readActivity } from '../../shared/db/stores/activity.ts';
import { ACTIVITY_ROWS_MAX, type ActivityDay, type ActivityResponse } from '../../shared/schemas/activity.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { add } from '../support/memory.ts';
import { feedback, predictSuccessfully, proposeReplies } from '../support/replies.ts';
import { countRowsRead } from '../support/rows-read.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Tables from which activity is counted: name, columns, and SQL for the values of a row at time `t`. */
const FILLED_TABLES = [
  [
    'raw_memories',
    'content, kind, origin, source, occurred_at, tags, metadata, created_at',
    `'', 'note', 'human', 'test', t, '{}', '{}', t`,
  ],
  [
    'episodes',
    'title, summary, started_at, ended_at, origin, tags, created_at, updated_at',
    `'', '', t, t, 'human', '{}', t, t`,
  ],
  ['facts', 'text, tags, created_at, updated_at', `'', '{}', t, t`],
  [
    'replies',
    'agent, agent_input, k, threshold, status, response, created_at',
    `'test', '', 1, 1, 'auto', 'Yes', t`,
  ],
  [
    'provider_calls',
    'at, kind, work_id, attempt, model, input_tokens, cached_tokens, output_tokens, cost_microcents, aborted, outcome, latency_ms',
    `t, 'reply', gen_random_uuid(), 1, 'test', 1, 0, 1, 1, false, 'ok', 1`,
  ],
] as const;

describe('account activity', () => {
  const system = useSystem({ env: { MODEL_PRICES: 'fake-model=0.15:0.6' } });

  const read = (person: UserClient, query = '') =>
    person.request<ActivityResponse>('GET', `/api/activity/${query}`);
  const today = async (person: UserClient) => (await read(person, '?days=1')).body.days[0];

  it('account activity lists the last 30 days by default, oldest first, with zeros for empty days', async () => {
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

  it('account activity counts predictions by status, saved characters, added memory rows, and model calls', async () => {
    const ann = await signUp(system);
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    const [first, second] = [
      await predictSuccessfully(ann, { threshold: 1 }),
      await predictSuccessfully(ann, { threshold: 1 }),
    ];
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

  it('account activity starts each day at midnight in the time zone of `utc_offset_minutes`', async () => {
    const [ann, bob] = [await signUp(system), await signUp(system)];
    const { id } = await add(ann, 'raw', { content: 'Just before midnight' });
    await system.sql(
      `update raw_memories set created_at = date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '30 minutes' where id = $1`,
      [id],
    );
    const rowsOf = async (person: UserClient, minutes: number) =>
      (await read(person, `?days=2&utc_offset_minutes=${minutes}`)).body.days.map(({ raw }) => raw);
    assert.deepEqual(await rowsOf(ann, 0), [1, 0]);
    // An hour further east, the row belongs to the next day. That day is the last entry of the list, unless the day
    // after it has already begun there.
    const east = await rowsOf(ann, 60);
    assert.equal(east[new Date().getUTCHours() === 23 ? 0 : 1], 1);
    assert.deepEqual(await rowsOf(bob, 0), [0, 0]);
  });

  describe('account activity with many rows', () => {
    const DAYS = { days: 30, utcOffsetMinutes: 0, now: Date.now() };
    before(async () => {
      // Drops the text indexes, which would take most of the filling time.
      for (const table of ['raw_memories', 'episodes', 'facts'])
        await system.sql(`drop index ${table}_search, ${table}_trigrams`);
    });

    const fill = async ({ id }: UserClient, rows: number, ago: string) => {
      for (const [table, columns, values] of FILLED_TABLES) {
        await system.sql(
          `insert into ${table} (id, account_id, ${columns})
           select gen_random_uuid(), $1, ${values}
             from generate_series(1, $2) n, lateral (select now() - $3::interval - n * interval '1 ms' as t) t`,
          [id, rows, ago],
        );
        await system.sql(`vacuum analyze ${table}`);
      }
    };

    it('account activity reads and counts at most the newest 50,000 rows of each table', async () => {
      const ann = await signUp(system);
      await fill(ann, 55_000, '1 hour');
      const read = await countRowsRead(system, (em) => readActivity(em, ann.id, DAYS));
      assert.ok(read < 5 * ACTIVITY_ROWS_MAX + 100, `${read} rows`);
      const { days } = (await ann.request<ActivityResponse>('GET', '/api/activity/')).body;
      const sum = (count: (day: ActivityDay) => number) => days.reduce((total, day) => total + count(day), 0);
      assert.deepEqual(
        [sum(({ raw }) => raw), sum(({ facts }) => facts), sum(({ by_status }) => by_status.auto)],
        [ACTIVITY_ROWS_MAX, ACTIVITY_ROWS_MAX, ACTIVITY_ROWS_MAX],
      );
    });
  });

  it('account activity is 422 if `days` or `utc_offset_minutes` is out of range', async () => {
    const ann = await signUp(system);
    for (const query of ['?days=0', '?days=91', '?utc_offset_minutes=900', '?utc_offset_minutes=x'])
      assert.equal((await read(ann, query)).status, 422, query);
    assert.equal((await read(ann, '?utc_offset_minutes=-480')).status, 200);
  });
});
