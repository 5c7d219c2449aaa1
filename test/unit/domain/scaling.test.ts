import assert from 'node:assert/strict';
import { desiredWorkers } from '../../../shared/domain/scaling.ts';

const idle = { queued: 0, running: 0, oldestMs: 0, workers: 2, slots: 20 };

describe('scaling', () => {
  it('a pool should have one worker while nothing runs, or if it has none', () => {
    assert.equal(desiredWorkers(idle), 1);
    assert.equal(desiredWorkers({ ...idle, queued: 50, oldestMs: 9000, workers: 0, slots: 0 }), 1);
  });

  it('a pool should have enough workers that at most 70 % of the slots are busy', () => {
    assert.equal(desiredWorkers({ ...idle, running: 14 }), 2);
    assert.equal(desiredWorkers({ ...idle, running: 15 }), 3);
  });

  it('a pool should have workers for queued work once that is 150 ms old', () => {
    assert.equal(desiredWorkers({ ...idle, running: 20, queued: 80, oldestMs: 149 }), 3);
    assert.equal(desiredWorkers({ ...idle, running: 20, queued: 80, oldestMs: 150 }), 15);
  });
});
