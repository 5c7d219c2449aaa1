import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JobReceipt, JobResponse, PromoteResult } from '../../shared/schemas/jobs.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { bySchema, status as failing, hang, structured, when } from '../support/fake-provider.ts';
import { add } from '../support/memory.ts';
import { promote, say, writeEpisode } from '../support/promotion.ts';
import { type System, startSystem, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';
import { untilShed } from '../support/until-shed.ts';

type Tier = Parameters<typeof promote>[1];

const TIERS: readonly Tier[] = ['episodes', 'facts'];
const PATH = (tier: Tier) => `/api/memory/promote/${tier}/`;
const ANSWERS = bySchema({ episode: writeEpisode(), facts: structured({ facts: [] }) });

/** Adds memory for which a promotion to the tier asks the model exactly once. */
async function prepare(person: UserClient, tier: Tier): Promise<void> {
  const rows = await say(person, ['I never deploy on Fridays']);
  const raw_ids = rows.map(({ id }) => id);
  if (tier === 'facts') await add(person, 'episodes', { title: 'Title', summary: 'Summary', raw_ids });
}

for (const tier of TIERS)
  describe(`promotion to ${tier} as a job`, function () {
    this.timeout(60_000);
    const system = useSystem({
      workerEntry: ['workers/main.ts', 'memory'],
      env: { PROMOTE_TIMEOUT_MS: '10000' },
    });
    let ann: UserClient;
    beforeEach(async () => {
      ann = await signUp(system);
      await prepare(ann, tier);
      system.provider.reset();
      system.provider.respond(ANSWERS);
    });

    const start = async (headers: Record<string, string> = {}) => {
      const reply = await ann.request<JobReceipt>(
        'POST',
        PATH(tier),
        {},
        {
          headers: { prefer: 'respond-async', ...headers },
        },
      );
      assert.equal(reply.status, 202, reply.text);
      return `/api/jobs/${reply.body.job_id}/`;
    };
    const untilEnded = (path: string) =>
      until(async () => {
        const { body } = await ann.request<JobResponse>('GET', path);
        return body.finished_at !== null && body;
      });

    it(`a promotion to ${tier} with \`Prefer: respond-async\` is 202, and its job reports the result`, async () => {
      const path = await start();
      const { kind, state, progress, result, error } = await untilEnded(path);
      assert.deepEqual([kind, state, error], [`promote_${tier}`, 'succeeded', null]);
      assert.deepEqual(progress, { done: 1, total: 1 });
      assert.equal((result as PromoteResult).considered, 1);
    });

    it(`a promotion to ${tier} with \`Accept: text/event-stream\` streams its result or its failure`, async () => {
      const accept = { accept: 'text/event-stream' };
      system.provider.next(failing(500));
      const failed = await promote(ann, tier, {}, accept);
      assert.match(
        failed.text,
        /event: error\ndata: {"detail":{"code":"provider_failed","message":"[^"]+"}}\n\n$/,
      );
      const { status, text } = await promote(ann, tier, {}, accept);
      assert.equal(status, 200);
      const [, data = ''] =
        text
          .trimEnd()
          .split('\n\n')
          .at(-1)
          ?.match(/^event: done\ndata: (.*)$/) ?? [];
      assert.equal(JSON.parse(data).considered, 1);
    });

    it(`a repeated request with the Idempotency-Key of a promotion to ${tier} gets the first result`, async () => {
      const headers = { 'idempotency-key': 'once' };
      const first = await promote(ann, tier, {}, headers);
      assert.equal(first.headers.get('idempotency-replayed'), null);
      const again = await promote(ann, tier, {}, headers);
      assert.deepEqual([again.status, again.text], [200, first.text]);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
      assert.equal((await promote(ann, tier, { force: true }, headers)).code, 'idempotency_conflict');
      assert.equal(system.provider.calls.length, 1);
    });

    it(`a repeated request for a promotion to ${tier} may state the default values that the first omitted`, async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await promote(ann, tier, {}, headers);
      const again = await promote(ann, tier, { limit: 100, force: false }, headers);
      assert.deepEqual([again.status, again.text], [200, first.text]);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
    });

    it(`a failed promotion to ${tier} runs again under the same Idempotency-Key`, async () => {
      const headers = { 'idempotency-key': 'again' };
      system.provider.next(failing(429));
      assert.equal((await promote(ann, tier, {}, headers)).code, 'provider_rate_limited');
      const again = await promote(ann, tier, {}, headers);
      assert.deepEqual([again.status, again.body.considered], [200, 1]);
    });

    it(`a repeated request for a running promotion to ${tier} is 409, unless it has \`Prefer: wait\``, async () => {
      const answered = Promise.withResolvers<void>();
      system.provider.next(when(answered.promise, ANSWERS));
      const headers = { 'idempotency-key': randomUUID() };
      const first = promote(ann, tier, {}, headers);
      await system.provider.called(1);
      const { status, code } = await promote(ann, tier, {}, headers);
      assert.deepEqual([status, code], [409, 'request_in_flight']);
      const attached = promote(ann, tier, {}, { ...headers, prefer: 'wait' });
      answered.resolve();
      assert.equal((await attached).text, (await first).text);
    });

    it(`a cancelled promotion to ${tier} aborts its provider call, and is 499`, async () => {
      system.provider.next(hang());
      const headers = { 'idempotency-key': randomUUID() };
      const waiting = promote(ann, tier, {}, headers);
      const call = await system.provider.called(1);
      const path = await start({ ...headers, prefer: 'respond-async, wait' });
      const { status, body } = await ann.request<JobResponse>('DELETE', path);
      assert.deepEqual([status, body.state, body.error?.code], [200, 'cancelled', 'job_cancelled']);
      const { status: ending, code } = await waiting;
      assert.deepEqual([ending, code], [499, 'job_cancelled']);
      await call.aborted;
      assert.equal((await promote(ann, tier)).body.considered, 1);
    });
  });

for (const tier of TIERS)
  describe(`deadlines of a promotion to ${tier}`, () => {
    let system: System;
    let ann: UserClient;
    const begin = async (options: Parameters<typeof startSystem>[0]) => {
      system = await startSystem(options);
      ann = await signUp(system);
      await prepare(ann, tier);
    };
    afterEach(() => system?.stop());

    it(`a promotion to ${tier} without a worker is 504 job_timeout at first, and soon 503 overloaded`, async () => {
      await begin({ env: { PROMOTE_TIMEOUT_MS: '1000' } });
      await untilShed(() => promote(ann, tier), 'job_timeout');
    });

    it(`a promotion to ${tier} is 503 without a provider's API key, and 422 for a model that is not offered`, async () => {
      const env = { OPENAI_API_KEY: '' };
      await begin({ workerEntry: ['workers/main.ts', 'memory'], env });
      const { status, code, headers } = await promote(ann, tier, { model: 'fake-model' });
      assert.deepEqual([status, code], [503, 'provider_not_configured']);
      assert.ok(Number(headers.get('retry-after')) > 0);
      assert.equal((await promote(ann, tier, { model: 'local' })).status, 422);
    });

    it(`a promotion to ${tier} is 504 at its deadline, and a repeat is 410 after the recovery window`, async () => {
      const env = { PROMOTE_TIMEOUT_MS: '1500', PROVIDER_TIMEOUT_MS: '300', RECOVERY_WINDOW_S: '1' };
      await begin({ workerEntry: ['workers/main.ts', 'memory'], env });
      system.provider.respond(hang());
      const { status, code } = await promote(ann, tier);
      assert.deepEqual([status, code], [504, 'job_timeout']);
      assert.ok(system.provider.calls.length > 1);
      system.provider.respond(ANSWERS);
      const headers = { 'idempotency-key': 'k' };
      assert.equal((await promote(ann, tier, {}, headers)).body.considered, 1);
      const late = await until(async () => {
        const again = await promote(ann, tier, {}, headers);
        return again.status === 410 && again;
      });
      assert.equal(late.code, 'recovery_window_expired');
    });
  });
