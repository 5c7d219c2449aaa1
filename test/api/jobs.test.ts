import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JobReceipt, JobResponse } from '../../shared/schemas/jobs.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { bySchema, status as failing, structured } from '../support/fake-provider.ts';
import { add } from '../support/memory.ts';
import { promote, say, writeEpisode } from '../support/promotion.ts';
import { event, post } from '../support/recording.ts';
import { BATCH, batchBody, proposeReplies } from '../support/replies.ts';
import { rowOf } from '../support/rows.ts';
import { type System, useSystem } from '../support/system.ts';
import { alterRow, whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';
import { untilShed } from '../support/until-shed.ts';

const ANSWERS = bySchema(
  { episode: writeEpisode(), facts: structured({ facts: [] }) },
  proposeReplies([{ response: 'Blue' }]),
);

async function addMemory(person: UserClient): Promise<void> {
  const [row] = await say(person, ['I never deploy on Fridays']);
  await add(person, 'episodes', { title: 'Title', summary: 'Summary', raw_ids: [row?.id] });
}

/** The calls that can run as jobs: `same` states the defaults that `body` leaves out. */
const CALLS = [
  {
    ...{ name: 'a sync', kind: 'sync', path: '/api/memory/sync/', body: {}, same: {}, other: { limit: 7 } },
    prepare: (person: UserClient) => post(person, [event()]),
  },
  ...(['episodes', 'facts'] as const).map((tier) => ({
    ...{ name: `a promotion to ${tier}`, kind: `promote_${tier}`, path: `/api/memory/promote/${tier}/` },
    ...{ body: {}, same: { limit: 100, force: false }, other: { force: true } },
    prepare: addMemory,
  })),
  {
    ...{ name: 'a reply batch', kind: 'predict_batch', path: BATCH, body: batchBody(['Blue?']) },
    ...{ same: batchBody(['Blue?'], { k: 1 }), other: batchBody(['Red?']) },
    prepare: async () => {},
  },
];

/** Returns a function with which a new person makes the call. */
async function caller(system: System, { path, body, prepare }: (typeof CALLS)[number]) {
  system.provider.respond(ANSWERS);
  const person = await signUp(system);
  await prepare(person);
  const ask = <Body = object>(headers: Record<string, string> = {}, sent: object = body) =>
    person.post<Body>(path, sent, { headers });
  const start = async (headers: Record<string, string> = {}) => {
    const reply = await ask<JobReceipt>({ prefer: 'respond-async', ...headers });
    assert.equal(reply.status, 202, reply.text);
    return `/api/jobs/${reply.body.job_id}/`;
  };
  return { person, ask, start };
}

describe('calls that can run as jobs', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
  const key = () => ({ 'idempotency-key': randomUUID() });

  for (const call of CALLS) {
    const { name, kind, same, other } = call;

    it(`${name} with \`Prefer: respond-async\` is 202, and its job reports the result of the call`, async () => {
      const { person, ask, start } = await caller(system, call);
      const headers = key();
      const path = await start(headers);
      const job = await until(async () => {
        const { body } = await person.get<JobResponse>(path);
        return body.finished_at !== null && body;
      });
      assert.deepEqual([job.kind, job.state, job.error], [kind, 'succeeded', null]);
      assert.deepEqual(job.progress, { done: 1, total: 1 });
      assert.deepEqual(job.result, (await ask(headers)).body);
    });

    it(`${name} with \`Accept: text/event-stream\` ends its stream with a \`done\` event that has the result`, async () => {
      const { ask } = await caller(system, call);
      const headers = key();
      const { status, text, headers: given } = await ask({ ...headers, accept: 'text/event-stream' });
      assert.equal(status, 200);
      assert.match(given.get('content-type') ?? '', /^text\/event-stream;/);
      assert.equal(given.get('x-accel-buffering'), 'no');
      const [, data = ''] = /\n\nevent: done\ndata: (.*)\n\n$/.exec(text) ?? [];
      assert.deepEqual(JSON.parse(data), (await ask(headers)).body);
    });

    it(`${name} runs once for each Idempotency-Key of an account, and another body with the key is 409`, async () => {
      const { ask } = await caller(system, call);
      const headers = key();
      const first = await ask(headers);
      assert.deepEqual([first.status, first.headers.get('idempotency-replayed')], [200, null], first.text);
      for (const body of [call.body, same]) {
        const again = await ask(headers, body);
        assert.deepEqual([again.status, again.text], [200, first.text]);
        assert.equal(again.headers.get('idempotency-replayed'), 'true');
      }
      assert.equal((await ask(headers, other)).code, 'idempotency_conflict');
      const stranger = await caller(system, call);
      assert.equal((await stranger.ask(headers)).headers.get('idempotency-replayed'), null);
      const long = await ask({ 'idempotency-key': 'k'.repeat(201) });
      assert.deepEqual([long.status, long.code], [400, 'invalid_request']);
      assert.equal((await ask({ 'idempotency-key': 'k'.repeat(200) })).status, 200);
    });

    it(`a repeated request for ${name} is 409 while the call runs, unless it has \`Prefer: wait\``, async () => {
      const { person, ask } = await caller(system, call);
      const headers = key();
      const { first, attached } = await whileFrozen(system.workers, async () => {
        const first = ask(headers);
        const live = `select from work where party = '${person.id}'`;
        await until(async () => (await system.database.pool.query(live)).rowCount === 1);
        assert.equal((await ask(headers)).code, 'request_in_flight');
        return { first, attached: ask({ ...headers, prefer: 'wait' }) };
      });
      assert.equal((await attached).text, (await first).text);
    });

    it(`deleting the job of ${name} cancels it: its waiting caller and every repeat of the request get 499`, async () => {
      const { person, ask, start } = await caller(system, call);
      const headers = key();
      await whileFrozen(system.workers, async () => {
        const path = await start(headers);
        const waiting = ask({ ...headers, prefer: 'wait' });
        const { status, body } = await person.request<JobResponse>('DELETE', path);
        assert.deepEqual([status, body.state, body.error?.code], [200, 'cancelled', 'job_cancelled']);
        const again: Record<string, string>[] = [
          {},
          { prefer: 'respond-async' },
          { accept: 'text/event-stream' },
        ];
        for (const reply of [
          await waiting,
          ...(await Promise.all(again.map((more) => ask({ ...headers, ...more })))),
        ])
          assert.deepEqual([reply.status, reply.code], [499, 'job_cancelled']);
        assert.deepEqual((await person.request<JobResponse>('DELETE', path)).body, body);
      });
      assert.equal((await ask()).status, 200);
    });
  }

  it('a call that can run as a job stays queued once its caller has left, and runs', async () => {
    const { person, ask } = await caller(system, CALLS[0] ?? assert.fail());
    const headers = key();
    const left = new AbortController();
    const [app, prediction] = [await system.app(), predictionBody()];
    const jobs = async () =>
      (await system.sql(`select from work where party = $1 and state = 'queued'`, [person.id])).length;
    await whileFrozen(system.workers, async () => {
      const calls = [
        person.post('/api/memory/sync/', {}, { headers, signal: left.signal }),
        app.predict(prediction, { signal: left.signal }),
      ].map((call) => assert.rejects(call));
      await until(async () => (await jobs()) === 1);
      await until(async () => (await rowOf(system, prediction).catch(() => undefined))?.state === 'queued');
      left.abort();
      await Promise.all(calls);
      const longAgo = `now() - interval '1 minute'`;
      await system.sql(`update work set admitted_at = ${longAgo}, waiters = '{}' where party = $1`, [
        person.id,
      ]);
      // The round that abandons the prediction has also looked at the job.
      await alterRow(system, app, prediction, `admitted_at = ${longAgo}, detached_at = ${longAgo}`);
      await until(async () => (await rowOf(system, prediction)).state === 'failed');
      assert.equal(await jobs(), 1);
    });
    assert.equal((await ask({ ...headers, prefer: 'wait' })).status, 200);
  });

  it('the stream of a call that fails ends with an `error` event', async () => {
    const { person } = await caller(system, CALLS[2] ?? assert.fail());
    system.provider.next(failing(500));
    const { text } = await promote(person, 'facts', {}, { accept: 'text/event-stream' });
    assert.match(text, /event: error\ndata: {"detail":{"code":"provider_failed","message":"[^"]+"}}\n\n$/);
  });
});

describe('calls that can run as jobs, at their deadline and after their window', () => {
  const TIMEOUTS = ['SYNC_TIMEOUT_MS', 'PROMOTE_TIMEOUT_MS', 'BATCH_TIMEOUT_MS'];
  const env = { ...Object.fromEntries(TIMEOUTS.map((name) => [name, '1000'])), RECOVERY_WINDOW_S: '1' };
  const system = useSystem({ workers: 0, workerEntry: ['workers/main.ts', 'all'], env });

  for (const call of CALLS)
    it(`${call.name} without a worker is 504 job_timeout at first, and soon 503 overloaded`, async () => {
      const { ask } = await caller(system, call);
      await untilShed(ask, 'job_timeout');
    });

  describe('with a worker', () => {
    before(() => system.startWorker());

    for (const call of CALLS)
      it(`${call.name} that is not done at its deadline is 504 job_timeout`, async () => {
        const { ask } = await caller(system, call);
        await until(async () => (await ask()).status === 200);
        await whileFrozen(system.workers, async () => {
          const { status, code } = await ask();
          assert.deepEqual([status, code], [504, 'job_timeout']);
        });
      });

    for (const call of CALLS)
      it(`a repeated request for ${call.name} is 410 after the recovery window`, async () => {
        const { ask } = await caller(system, call);
        await until(async () => (await ask()).status === 200);
        const headers = { 'idempotency-key': 'k' };
        assert.equal((await ask(headers)).status, 200);
        const late = await until(async () => {
          const again = await ask(headers);
          return again.status === 410 && again;
        });
        assert.equal(late.code, 'recovery_window_expired');
      });
  });
});
