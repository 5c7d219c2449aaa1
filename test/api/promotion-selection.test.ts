import assert from 'node:assert/strict';
import { admit } from '../../shared/db/stores/work/admit.ts';
import { newId } from '../../shared/ids.ts';
import type { JobResponse, PromoteResult } from '../../shared/schemas/jobs.ts';
import { admissionTerms, jobAdmission } from '../../shared/work/admission.ts';
import { promoteEpisodes, promoteFacts } from '../../shared/work/kinds.ts';
import { signUp, type UserClient } from '../support/account.ts';
import {
  currentTexts,
  type Proposal,
  proposeFacts,
  recordOf,
  addEpisode as someEpisode,
} from '../support/facts-promotion.ts';
import { bySchema, hang, lengthStop, type Step } from '../support/fake-provider.ts';
import { pluck } from '../support/pluck.ts';
import { episodesOf, promote, rowsIn, say, writeEpisode } from '../support/promotion.ts';
import { type System, startSystem, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const POISON = 'My parrot is called Poison';
const NOON = Date.UTC(2026, 4, 1, 12);
const HOUR = 3_600_000;

describe('rows that a promotion takes', () => {
  const env = { PROMOTE_TIMEOUT_MS: '20000', PROVIDER_TIMEOUT_MS: '500' };
  const system = useSystem({ workerEntry: ['workers/main.ts', 'memory'], env });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
    system.provider.reset();
  });

  const textOf = (call: Parameters<Step>[1]) => JSON.stringify(call.body.messages);
  /** Wraps a step so that the model never answers a request that contains the poisoned row. */
  const hangOnPoison = (step: Step): Step => {
    return (response, call) => (textOf(call).includes(POISON) ? hang() : step)(response, call);
  };
  const promotionResult = async (tier: 'episodes' | 'facts', body: object = {}): Promise<PromoteResult> => {
    const { status, text, body: result } = await promote(ann, tier, body);
    assert.equal(status, 200, text);
    return result;
  };
  /** Runs a promotion as the scheduler does. */
  const bySchedule = async (tier: 'episodes' | 'facts', limit = 500) => {
    const kind = { episodes: promoteEpisodes, facts: promoteFacts }[tier];
    const terms = { process: newId(), timeoutMs: 20_000, recoveryWindowS: 600 };
    const body = { settled_only: true, limit };
    const job = jobAdmission(kind, { accountId: ann.id, body, facts: {} });
    const { pool } = system.database;
    await admit(pool, [job], admissionTerms(kind, terms));
    return until(async () => {
      const read = await ann.get<JobResponse>(`/api/jobs/${job.key}/`);
      const { state, result, finished_at } = read.body;
      return finished_at !== null && { state, result: result as PromoteResult | null };
    }, 30_000);
  };
  const backoffs = async (table: string) => {
    const rows = await system.sql<{ failures: number; left: number }>(
      `select failures, extract(epoch from retry_at - now())::int as left from ${table}
        where account_id = $1 and failures > 0`,
      [ann.id],
    );
    return rows;
  };
  const makeRetriesDue = (table: string) =>
    system.sql(`update ${table} set retry_at = now() where account_id = $1 and failures > 0`, [ann.id]);

  it('a row for which every model call times out is set aside, and the rows after it become episodes', async () => {
    await say(ann, [POISON], { session_id: 'a' });
    for (const n of [1, 2, 3]) await say(ann, [`fine ${n}`], { session_id: `b${n}`, at: NOON + n * HOUR });
    system.provider.respond(hangOnPoison(writeEpisode()));
    const { created, skipped, considered } = await promotionResult('episodes');
    assert.deepEqual([created, skipped, considered], [3, 1, 4]);
    const titles = pluck(await episodesOf(ann), 'title');
    assert.deepEqual(titles, ['About fine 1', 'About fine 2', 'About fine 3']);
  });

  it('a promotion makes episodes of the other rows of a cluster if model calls time out on one of them', async () => {
    const said = Array.from({ length: 20 }, (_, n) => (n === 13 ? POISON : `fine ${n}`));
    await say(ann, said, { session_id: 'a' });
    system.provider.respond(hangOnPoison(writeEpisode()));
    const { created, skipped, considered } = await promotionResult('episodes');
    assert.deepEqual([skipped, considered], [1, 20]);
    assert.ok(created > 1);
    assert.equal((await backoffs('raw_memories')).length, 1);
    // The model is asked about the poisoned row among at most 20 rows, then among 10, 5, 3 and 2, and then about it
    // alone.
    const asked = system.provider.calls.filter((call) => textOf(call).includes(POISON)).length;
    assert.ok(asked > 1 && asked <= 6, `asked ${asked} times`);
  });

  it('a promotion fails after three model calls if every answer of the model is unusable', async () => {
    await say(
      ann,
      Array.from({ length: 20 }, () => POISON),
      { session_id: 'a' },
    );
    system.provider.respond(lengthStop());
    assert.equal((await promote(ann, 'episodes')).code, 'provider_failed');
    assert.equal(system.provider.calls.length, 3);
  });

  it('a requested promotion includes a row that was set aside, but only if `limit` leaves room for the row', async () => {
    await say(ann, [POISON], { session_id: 'a' });
    system.provider.respond(hangOnPoison(writeEpisode()));
    assert.equal((await promote(ann, 'episodes')).code, 'job_timeout');
    await say(ann, ['fine'], { session_id: 'b', at: NOON + HOUR });
    const calls = system.provider.calls.length;
    const { created, skipped, considered } = await promotionResult('episodes', { limit: 1 });
    assert.deepEqual([created, skipped, considered], [1, 0, 1]);
    assert.deepEqual(
      system.provider.calls.slice(calls).map((call) => rowsIn(call).map(({ text }) => text)),
      [['fine']],
    );
    system.provider.respond(writeEpisode());
    assert.equal((await promotionResult('episodes')).created, 1);
    assert.deepEqual(await backoffs('raw_memories'), []);
  });

  it('scheduled promotions skip a row that was set aside, and retry the row after a backoff that grows', async () => {
    await say(ann, [POISON], { session_id: 'a', at: Date.now() - 48 * HOUR });
    system.provider.respond(hangOnPoison(writeEpisode()));
    assert.equal((await bySchedule('episodes')).state, 'failed');
    const [first] = await backoffs('raw_memories');
    const calls = system.provider.calls.length;
    const { state, result } = await bySchedule('episodes');
    assert.deepEqual([state, result?.skipped, result?.considered, result?.created], ['succeeded', 1, 1, 0]);
    assert.equal(system.provider.calls.length, calls);
    await makeRetriesDue('raw_memories');
    assert.equal((await bySchedule('episodes')).state, 'failed');
    const [second] = await backoffs('raw_memories');
    assert.ok((second?.left ?? 0) > (first?.left ?? 0) && (second?.left ?? 0) <= 86_400);
    await makeRetriesDue('raw_memories');
    system.provider.respond(writeEpisode());
    assert.equal((await bySchedule('episodes')).result?.created, 1);
  });

  it('a promotion to facts makes facts of the other episodes if model calls time out on one of them', async () => {
    const likes: Proposal[] = [];
    for (let n = 0; n < 10; n += 1) {
      const quote = n === 3 ? POISON : `I like flavour ${n}x`;
      await someEpisode(ann, [quote], n + 1);
      likes.push({ text: n === 3 ? 'Has a parrot, Poison' : `Likes flavour ${n}x`, quote });
    }
    system.provider.respond(bySchema({ facts: hangOnPoison(proposeFacts(...likes)) }));
    const { created, skipped, considered } = await promotionResult('facts');
    assert.deepEqual([created, skipped, considered], [9, 1, 10]);
    assert.ok(!(await currentTexts(ann)).includes('Has a parrot, Poison'));
    assert.equal((await backoffs('episodes')).length, 1);
    const { state, result } = await bySchedule('facts');
    assert.deepEqual([state, result?.skipped, result?.considered], ['succeeded', 1, 1]);

    await makeRetriesDue('episodes');
    system.provider.respond(proposeFacts(...likes));
    const calls = system.provider.calls.length;
    assert.equal((await promotionResult('facts')).created, 1);
    const [asked] = system.provider.calls.slice(calls);
    assert.equal(asked && recordOf(asked).episodes.length, 1);
    assert.deepEqual(await backoffs('episodes'), []);
  });

  describe('settled rows', () => {
    const THREE_TEXTS = ['one', 'two', 'three'];
    const MINUTE = 60_000;
    /** Promotes, and returns the texts of each cluster that became an episode. */
    const promoted = async (by: 'schedule' | 'person', limit = 100) => {
      system.provider.reset();
      system.provider.respond(writeEpisode());
      if (by === 'schedule') await bySchedule('episodes', limit);
      else await promotionResult('episodes', { limit });
      return system.provider.calls.map((call) => pluck(rowsIn(call), 'text'));
    };

    it('scheduled promotions take a session after 20 quiet minutes, not after one', async () => {
      await say(ann, THREE_TEXTS, { session_id: 'old', at: Date.now() - 20 * MINUTE });
      await say(ann, ['four', 'five', 'six'], { session_id: 'new', at: Date.now() - MINUTE });
      assert.deepEqual(await promoted('schedule'), [THREE_TEXTS]);
      assert.deepEqual(await promoted('person'), [['four', 'five', 'six']]);
    });

    it('scheduled promotions take a session of a single row after a day, not after an hour', async () => {
      await say(ann, ['hello'], { session_id: 'today', at: Date.now() - 60 * MINUTE });
      await say(ann, ['bye'], { session_id: 'yesterday', at: Date.now() - 25 * 60 * MINUTE });
      assert.deepEqual(await promoted('schedule'), [['bye']]);
      assert.deepEqual(await promoted('person'), [['hello']]);
    });

    it('a promotion takes whole clusters of rows up to `limit`, and splits only a first cluster that exceeds it', async () => {
      for (const [limit, clusters] of [
        [5, [THREE_TEXTS, ['four', 'five']]],
        [4, [THREE_TEXTS]],
        [2, [['one', 'two']]],
      ] as const) {
        ann = await signUp(system);
        await say(ann, THREE_TEXTS, { session_id: 'a', at: Date.now() - 90 * MINUTE });
        await say(ann, ['four', 'five'], { session_id: 'b', at: Date.now() - 80 * MINUTE });
        assert.deepEqual(await promoted('person', limit), clusters);
      }
    });
  });
});

describe('unanswered model calls', () => {
  let system: System;
  afterEach(() => system?.stop());

  it("a row whose model call lasts until the promotion's deadline does not hold up the next promotion", async () => {
    const env = { PROMOTE_TIMEOUT_MS: '3000', PROVIDER_TIMEOUT_MS: '60000' };
    system = await startSystem({ workerEntry: ['workers/main.ts', 'memory'], env });
    const ann = await signUp(system);
    await say(ann, [POISON], { session_id: 'a' });
    await say(ann, ['fine'], { session_id: 'b', at: NOON + HOUR });
    const step = writeEpisode();
    system.provider.respond((response, call) =>
      (rowsIn(call)[0]?.text === POISON ? hang() : step)(response, call),
    );
    assert.equal((await promote(ann, 'episodes')).code, 'job_timeout');
    await promote(ann, 'episodes');
    assert.deepEqual(pluck(await episodesOf(ann), 'title'), ['About fine']);
  });
});
