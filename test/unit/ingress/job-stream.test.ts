import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobService } from '../../../ingress/jobs/service.ts';
import { type JobItem, streamJob } from '../../../ingress/jobs/stream.ts';
import type { Job, JobRef } from '../../../shared/db/stores/work/find.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { createLog } from '../../../shared/log.ts';
import type { JobResponse } from '../../../shared/schemas/jobs.ts';
import { until } from '../../support/until.ts';

const JOB: JobResponse = {
  id: '8f6b2d1e-3c4b-5a60-9d55-0f6f3f6e2a10',
  kind: 'sync',
  state: 'running',
  progress: { done: 0, total: 2 },
  result: null,
  error: null,
  created_at: '2026-11-20T10:00:00.000Z',
  finished_at: null,
};
const ROW: Job = {
  key: '',
  kind: 'sync',
  state: 'running',
  code: null,
  progress: { steps: JOB.progress },
  report: null,
  admittedMs: 0,
  endedMs: null,
};
const REPORT = { steps: { done: 2, total: 2 }, result: { created: 7 } };
const receipt = { job_id: JOB.id, status_url: `http://localhost/api/jobs/${JOB.id}/` };
const pause = () => sleep(1);

let logged = '';
const log = createLog(
  'test',
  'info',
  new Writable({
    write(line, _encoding, done) {
      logged += line;
      done();
    },
  }),
);

describe('job stream', () => {
  const { signal } = new AbortController();
  const common = { pause, keepAliveMs: 10_000, maxOutageMs: 120_000, log };
  const polls = (...jobs: Partial<JobResponse>[]) => {
    const rest = jobs.map((job) => ({ ...JOB, ...job }));
    return async (_: ReadonlySet<number>, items: JobItem[] = []) => ({
      job: rest.shift() ?? assert.fail('looked after the end'),
      items,
    });
  };

  it("a job stream sends each change of the job's progress once, then the result", async () => {
    const half = { progress: { done: 1, total: 2 } };
    const done = { progress: { done: 2, total: 2 }, state: 'succeeded' as const, result: { created: 7 } };
    assert.equal(
      await text(streamJob({ receipt, poll: polls({}, {}, half, half, done), ...common }, signal)),
      [
        `event: job\ndata: ${JSON.stringify(receipt)}\nid: 0\n\n`,
        'event: progress\ndata: {"done":0,"total":2}\n\n',
        'event: progress\ndata: {"done":1,"total":2}\n\n',
        'event: progress\ndata: {"done":2,"total":2}\n\n',
        'event: done\ndata: {"created":7}\n\n',
      ].join(''),
    );
  });

  it('a job stream sends each item of the result once, as soon as the item is ready, before the done event', async () => {
    const items = [[{ index: 1 }], [], [{ index: 0 }, { index: 2 }]];
    const seen: number[][] = [];
    const jobs = polls({}, {}, { result: {} });
    const poll = (shown: ReadonlySet<number>) => {
      seen.push([...shown]);
      return jobs(shown, items.shift());
    };
    const stream = streamJob({ receipt, poll, ...common }, signal);
    const names = [...(await text(stream)).matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(
      ([, name, data]) => `${name} ${data}`,
    );
    assert.deepEqual(names, [
      `job ${JSON.stringify(receipt)}`,
      'progress {"done":0,"total":2}',
      'result {"index":1}',
      'result {"index":0}',
      'result {"index":2}',
      'done {}',
    ]);
    assert.deepEqual(seen, [[], [1], [1]]);
  });

  it('a job stream resumes after a known Last-Event-ID with the remaining items, and after an unknown one with all', async () => {
    const resume = async (lastEventId?: string) => {
      const jobs = polls({}, { result: {} });
      const poll = (shown: ReadonlySet<number>) => {
        const items = [0, 1, 2].filter((index) => !shown.has(index)).map((index) => ({ index }));
        return jobs(shown, items);
      };
      const streamed = await text(streamJob({ receipt, lastEventId, poll, ...common }, signal));
      return [...streamed.matchAll(/^event: result\ndata: {"index":(\d)}\nid: (\w+)$/gm)].map(
        ([, ...parts]) => parts,
      );
    };
    const [first, ...rest] = await resume();
    assert.deepEqual(
      [first, ...rest],
      [
        ['0', '1'],
        ['1', '3'],
        ['2', '7'],
      ],
    );
    assert.deepEqual(await resume(first?.[1]), rest);
    assert.deepEqual(await resume('7'), []);
    for (const none of ['0', '', '-1', 'x', 'F', 'f'.repeat(26)])
      assert.equal((await resume(none)).length, 3, none);
  });

  it('a job stream ends with the error of a failed job', async () => {
    const error = { code: 'job_timeout', message: 'The job took too long.' };
    const streamed = await text(
      streamJob({ receipt, poll: polls({ state: 'failed', error }), ...common }, signal),
    );
    assert.match(streamed, /\nevent: error\ndata: {"detail":{"code":"job_timeout",[^\n]*}}\n\n$/);
  });

  it('a job stream ends with the error of a poll that is refused', async () => {
    const polls = [
      async () => ({ job: JOB, items: [] }),
      () => Promise.reject(new AppError('not_authenticated')),
    ];
    const poll = () => polls.shift()?.() ?? assert.fail();
    const streamed = await text(streamJob({ receipt, poll, ...common }, signal));
    assert.match(streamed, /\nevent: error\ndata: {"detail":{"code":"not_authenticated",[^\n]*}}\n\n$/);
  });

  it('a job stream goes on after polls that failed because the database was unreachable or a lock timed out', async () => {
    const polls = [
      () => Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' })),
      () => Promise.reject(Object.assign(new Error('lock timeout'), { code: '55P03' })),
      async () => ({ job: { ...JOB, result: {} }, items: [] }),
    ];
    const poll = () => polls.shift()?.() ?? assert.fail();
    const streamed = await text(streamJob({ receipt, poll, ...common }, signal));
    assert.match(streamed, /\nevent: done\ndata: {}\n\n$/);
  });

  it('a job stream ends with service_unavailable after a database outage of `maxOutageMs`, and logs the outage once', async () => {
    let polls = 0;
    const poll = async () => {
      polls += 1;
      if (polls === 1) return { job: JOB, items: [] };
      await sleep(60);
      throw Object.assign(new Error('the server is gone'), { code: '57P01' });
    };
    const streamed = await text(streamJob({ receipt, poll, ...common, maxOutageMs: 100 }, signal));
    assert.match(streamed, /\nevent: error\ndata: {"detail":{"code":"service_unavailable",[^\n]*}}\n\n$/);
    assert.ok(polls < 10, `${polls} polls`);
    assert.equal(logged.match(/"database unreachable"/g)?.length, 1);
  });

  it('a job stream whose poll throws an unexpected error logs it, and ends with internal_error', async () => {
    const poll = () => Promise.reject(new TypeError('undefined is not a function'));
    const streamed = await text(streamJob({ receipt, poll, ...common }, signal));
    assert.match(streamed, /\nevent: error\ndata: {"detail":{"code":"internal_error",[^\n]*}}\n\n$/);
    assert.match(logged, /undefined is not a function.*"defect"/);
  });

  it('a job stream sends a comment as a keep-alive when it has sent nothing for keepAliveMs, also while polls fail', async () => {
    let polls = 0;
    const poll = async () => {
      polls += 1;
      await sleep(30);
      if (polls % 2 === 0) throw Object.assign(new Error('the server is gone'), { code: '57P01' });
      return { job: { ...JOB, ...(polls === 7 && { result: {} }) }, items: [] };
    };
    const streamed = await text(streamJob({ receipt, poll, ...common, keepAliveMs: 20 }, signal));
    // The first poll has sent the progress, and the last one the result.
    assert.equal(streamed.match(/^:$/gm)?.length, 5);
  });

  it('a job stream ends without an error when its caller disconnects', async () => {
    const leaving = new AbortController();
    const never = () => new Promise<void>(() => {});
    const stream = streamJob({ receipt, poll: polls({}), ...common, pause: never }, leaving.signal);
    const streamed = text(stream);
    await until(() => stream.readableDidRead);
    leaving.abort();
    assert.match(await streamed, /^event: job/);
  });

  it('150 job streams poll the database with shared statements, not with one statement each', async () => {
    const streams = 150;
    const accounts = Array.from({ length: streams }, (_, n) => `account-${n}`);
    const statements: number[] = [];
    let over = false;
    const find = async (named: JobRef[]) => {
      statements.push(named.length);
      await sleep(1);
      return named.map(({ key }) => ({ ...ROW, key, ...(over && { state: 'succeeded', report: REPORT }) }));
    };
    const work = {
      perform: () => assert.fail('not asked for'),
      start: () => assert.fail('not asked for'),
      cancel: () => assert.fail('not asked for'),
    };
    const jobs = new JobService(
      { work, views: {}, find, isErased: async () => false, sendTimeoutMs: 30_000, log },
      10,
    );
    const polls = () => statements.reduce((sum, named) => sum + named, 0);
    const texts = accounts.map(async (account, n) => {
      await sleep(n % 10);
      return text(
        jobs.stream(
          account,
          { receipt: { ...receipt, job_id: `job-${n}` } },
          { gone: signal, reserve: async () => {} },
        ),
      );
    });
    await until(() => polls() > 10 * streams);
    over = true;
    for (const streamed of await Promise.all(texts)) assert.match(streamed, /event: done/);
    // Polls of all streams take up to three statements: for the first stream, for a hundred others, and for the rest.
    assert.ok(statements.length < polls() / 20, `${statements.length} statements for ${polls()} polls`);
  });
});
