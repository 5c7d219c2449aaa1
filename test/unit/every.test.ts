import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { every, type Repetition } from '../../shared/timing/every.ts';
import { until } from '../support/until.ts';

describe('repeated work', () => {
  let repeated: Repetition | undefined;
  afterEach(() => repeated?.stop());

  it('repeated work never runs twice at once, even if it takes longer than the interval', async () => {
    let [running, most, runs] = [0, 0, 0];
    repeated = every(5, async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(20);
      running -= 1;
      runs += 1;
    });
    await until(() => runs >= 3);
    assert.equal(most, 1);
  });

  it('repeated work runs again after a run has failed', async () => {
    const failures: unknown[] = [];
    repeated = every(5, () => Promise.reject('down'), { onError: (error) => failures.push(error) });
    await until(() => failures.length >= 2);
    assert.equal(failures[0], 'down');
  });

  it('repeated work starts after the first interval, or at once with `atOnce`', () => {
    let runs = 0;
    repeated = every(60_000, () => {
      runs += 1;
    });
    assert.equal(runs, 0);
    const atOnce = every(
      60_000,
      () => {
        runs += 1;
      },
      { atOnce: true },
    );
    assert.equal(runs, 1);
    return atOnce.stop();
  });

  it('stopping repeated work waits for the current run, and no other run starts', async () => {
    const work = Promise.withResolvers<void>();
    let runs = 0;
    const one = every(
      1,
      () => {
        runs += 1;
        return work.promise;
      },
      { atOnce: true },
    );
    let isStopped = false;
    const stopped = one.stop().then(() => {
      isStopped = true;
    });
    await sleep(20);
    assert.equal(isStopped, false);
    work.resolve();
    await stopped;
    await sleep(20);
    assert.equal(runs, 1);
  });
});
