import assert from 'node:assert/strict';
import type { JobReceipt, JobResponse, PromoteResult } from '../../shared/schemas/jobs.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { delay, hang } from '../support/fake-provider.ts';
import { episodesOf, promote, rawOf, rowsIn, say, writeEpisode } from '../support/promotion.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SESSIONS = 6;

describe('promotion with a dead worker', () => {
  const system = useSystem({
    apart: true,
    workerEntry: ['workers/main.ts', 'memory'],
    env: { LEASE_MS: '1500' },
  });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
    for (let n = 0; n < SESSIONS; n += 1)
      await say(ann, [`${n} one`, `${n} two`], { session_id: `s-${n}`, at: Date.UTC(2026, 4, 1, 12, n) });
    system.provider.reset();
    system.provider.respond(writeEpisode());
  });

  const kill = () => system.workers.shift()?.kill();
  /** Starts a promotion, kills the only worker during the third model call, and returns the next worker's result. */
  const promoteAndKill = async (body: object) => {
    system.provider.next(writeEpisode(), writeEpisode(), hang());
    const before = system.provider.calls.length;
    const { status, body: receipt } = await ann.request<JobReceipt>(
      'POST',
      '/api/memory/promote/episodes/',
      body,
      { headers: { prefer: 'respond-async' } },
    );
    assert.equal(status, 202);
    await system.provider.called(before + 3);
    await kill();
    await system.startWorker();
    const { result, ...job } = await until(async () => {
      const { body } = await ann.request<JobResponse>('GET', `/api/jobs/${receipt.job_id}/`);
      return body.finished_at !== null && body;
    }, 20_000);
    assert.deepEqual([job.state, job.progress], ['succeeded', { done: SESSIONS, total: SESSIONS }]);
    return result as PromoteResult;
  };
  const assertWhole = async (ids: readonly string[]) => {
    const episodes = await episodesOf(ann);
    assert.deepEqual(ids.toSorted(), episodes.map(({ id }) => id).toSorted());
    const sources = episodes.flatMap(({ raw_ids }) => raw_ids);
    const rows = await rawOf(ann);
    assert.deepEqual(sources.toSorted(), rows.map(({ id }) => id).toSorted());
    assert.ok(rows.every(({ promoted_at }) => promoted_at !== null));
  };

  it('a promotion whose worker dies continues where it stopped, and its result counts both attempts #promotion-crash', async () => {
    const { ids, created, considered, usage } = await promoteAndKill({});
    assert.deepEqual([created, considered], [SESSIONS, 2 * SESSIONS]);
    assert.equal(usage.input_tokens, 12 * SESSIONS);
    await assertWhole(ids);
    // The model was asked twice only about the episode whose call hung.
    assert.equal(system.provider.calls.length, SESSIONS + 1);
    assert.equal((await promote(ann, 'episodes')).body.considered, 0);
  });

  it('eight concurrent promotions of one account make each episode once, even if two workers die', async () => {
    system.provider.respond(delay(60, writeEpisode()));
    const promotions = Array.from({ length: 8 }, () => promote(ann, 'episodes'));
    for (let n = 1; n <= 2; n += 1) {
      await system.provider.called(2 * n);
      await kill();
      await system.startWorker();
    }
    const results = await Promise.all(promotions);
    assert.deepEqual([...new Set(results.map(({ status }) => status))], [200]);
    assert.equal(
      results.reduce((sum, { body }) => sum + body.created, 0),
      SESSIONS,
    );
    await assertWhole(results.flatMap(({ body }) => body.ids));
    const titles = (await episodesOf(ann)).map(({ title }) => title);
    assert.deepEqual(
      titles,
      Array.from({ length: SESSIONS }, (_, n) => `About ${n} one`),
    );
    assert.ok(system.provider.calls.every((call) => rowsIn(call).length === 2));
  });
});
