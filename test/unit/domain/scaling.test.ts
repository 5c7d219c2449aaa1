import assert from 'node:assert/strict';
import { desiredWorkers } from '../../../shared/domain/scaling.ts';

const idle = { queued: 0, running: 0, oldestMs: 0, workers: 2, slots: 20 };

describe('desired number of workers', () => {
  it("the desired number of a pool's workers is one while the pool has no work, or no worker", () => {
    assert.equal(desiredWorkers(idle), 1);
    assert.equal(desiredWorkers({ ...idle, queued: 50, oldestMs: 9000, workers: 0, slots: 0 }), 1);
  });

  it("the desired number of a pool's workers keeps at most 70 % of the workers' slots busy", () => {
    assert.equal(desiredWorkers({ ...idle, running: 14 }), 2);
    assert.equal(desiredWorkers({ ...idle, running: 15 }), 3);
  });

  it("the desired number of a pool's workers counts queued work once its oldest piece has waited for 150 ms", () => {
    assert.equal(desiredWorkers({ ...idle, running: 20, queued: 80, oldestMs: 149 }), 3);
    assert.equal(desiredWorkers({ ...idle, running: 20, queued: 80, oldestMs: 150 }), 15);
  });
});
