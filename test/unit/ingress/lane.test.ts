import assert from 'node:assert/strict';
import { Lane } from '../../../ingress/lane.ts';

describe('a lane', () => {
  /** A piece of work that is done when the test says so. */
  const piece = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let started = false;
    const work = () => {
      started = true;
      return promise;
    };
    return { work, done: resolve, isStarted: () => started };
  };

  /** Until everything that follows from what was done has happened. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('does so many pieces at once, and the others in their order', async () => {
    const lane = new Lane({ atOnce: 2, longest: 10 });
    const pieces = [piece(), piece(), piece(), piece()] as const;
    const runs = pieces.map(({ work }) => lane.run(work));
    const started = () => pieces.map(({ isStarted }) => isStarted()).join();
    assert.equal(started(), 'true,true,false,false');
    pieces[1].done();
    await settled();
    assert.equal(started(), 'true,true,true,false');
    for (const { done } of pieces) done();
    await Promise.all(runs);
    assert.equal(started(), 'true,true,true,true');
  });

  it('refuses at once whoever finds the line full, and takes others when it is not any more', async () => {
    const lane = new Lane({ atOnce: 1, longest: 1 });
    const [running, waiting] = [piece(), piece()];
    const runs = [lane.run(running.work), lane.run(waiting.work)];
    await assert.rejects(lane.run(piece().work), { code: 'overloaded', retryAfterS: 1 });
    running.done();
    waiting.done();
    await Promise.all(runs);
    assert.equal(await lane.run(async () => 'done'), 'done');
  });

  it('goes on after a piece that fails', async () => {
    const lane = new Lane({ atOnce: 1, longest: 1 });
    const failing = lane.run(() => Promise.reject(new Error('broken')));
    const next = lane.run(async () => 'done');
    await assert.rejects(failing, /broken/);
    assert.equal(await next, 'done');
  });

  it('never does the work of who went away in the line, and gives the place to the next', async () => {
    const lane = new Lane({ atOnce: 1, longest: 1 });
    const [running, left, next] = [piece(), piece(), piece()];
    const first = lane.run(running.work);
    const gone = new AbortController();
    const leaving = lane.run(left.work, gone.signal);
    gone.abort();
    await assert.rejects(leaving, { code: 'overloaded' });
    const last = lane.run(next.work);
    running.done();
    next.done();
    await Promise.all([first, last]);
    assert.ok(!left.isStarted() && next.isStarted());
    await assert.rejects(Promise.all([lane.run(() => settled()), lane.run(left.work, AbortSignal.abort())]), {
      code: 'overloaded',
    });
  });

  it('lets who went away while its work ran have it done', async () => {
    const gone = new AbortController();
    const { work, done } = piece();
    const run = new Lane({ atOnce: 1, longest: 0 }).run(work, gone.signal);
    gone.abort();
    done();
    await run;
  });
});
