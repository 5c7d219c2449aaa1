import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { streamJob } from '../../../ingress/jobs/stream.ts';
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
const FAST = { everyMs: 1 };

describe('the stream of a job', () => {
  const { signal } = new AbortController();
  const looks = (...jobs: Partial<JobResponse>[]) => {
    const rest = jobs.map((job) => ({ ...JOB, ...job }));
    return async () => rest.shift() ?? assert.fail('looked after the end');
  };

  it('has each progress once, then the result', async () => {
    const half = { progress: { done: 1, total: 2 } };
    const done = { progress: { done: 2, total: 2 }, state: 'succeeded' as const, result: { created: 7 } };
    assert.equal(
      await text(streamJob(looks({}, {}, half, half, done), signal, FAST)),
      [
        'event: progress\ndata: {"done":0,"total":2}\n\n',
        'event: progress\ndata: {"done":1,"total":2}\n\n',
        'event: progress\ndata: {"done":2,"total":2}\n\n',
        'event: done\ndata: {"created":7}\n\n',
      ].join(''),
    );
  });

  it('has each part of the result once, when it is ready, before the result', async () => {
    const items = [[{ index: 1 }], [], [{ index: 0 }, { index: 2 }]];
    const seen: number[][] = [];
    const ready = async (shown: ReadonlySet<number>) => {
      seen.push([...shown]);
      return items.shift() ?? assert.fail('asked after the end');
    };
    const stream = streamJob(looks({}, {}, { result: {} }), signal, { ...FAST, items: ready });
    const names = [...(await text(stream)).matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(
      ([, name, data]) => `${name} ${data}`,
    );
    assert.deepEqual(names, [
      'progress {"done":0,"total":2}',
      'result {"index":1}',
      'result {"index":0}',
      'result {"index":2}',
      'done {}',
    ]);
    assert.deepEqual(seen, [[], [1], [1]]);
  });

  it('ends with what the job failed with', async () => {
    const error = { code: 'job_timeout', message: 'The job took too long.' };
    const streamed = await text(streamJob(looks({ state: 'failed', error }), signal, FAST));
    assert.match(streamed, /\nevent: error\ndata: {"detail":{"code":"job_timeout",[^\n]*}}\n\n$/);
  });

  it('has a comment now and then while nothing happens, so that nobody takes it for dead', async () => {
    const quiet = Array.from({ length: 45 }, () => ({}));
    const streamed = await text(streamJob(looks(...quiet, { result: {} }), signal, FAST));
    assert.equal(streamed.match(/^:$/gm)?.length, 2);
  });

  it('ends quietly when its caller is gone', async () => {
    const leaving = new AbortController();
    const stream = streamJob(async () => JOB, leaving.signal, FAST);
    const streamed = text(stream);
    await until(() => stream.readableDidRead);
    leaving.abort();
    assert.match(await streamed, /^event: progress/);
  });
});
