import assert from 'node:assert/strict';
import { errorsIn, FUZZED, fuzz, replayLine } from '../support/fuzz/run.ts';
import { type System, startSystem } from '../support/system.ts';

const REQUESTS = 1500;
const SEED = 20261122;

describe('generated requests', () => {
  let system: System;

  before(async () => {
    system = await startSystem(FUZZED);
  });
  after(() => system.stop());

  it(`generated requests get only answers that the OpenAPI document lists (seed ${SEED})`, async () => {
    const { requests, ends, failures } = await fuzz(system, {
      requests: REQUESTS,
      seed: SEED,
      connections: 8,
    });
    const told = failures.map((failure) => `${failure.fault}\n  ${failure.sent}\n  ${replayLine(failure)}`);
    assert.deepEqual(told, []);
    assert.deepEqual(errorsIn(system), []);
    assert.equal(requests, REQUESTS);
    assert.ok(ends.size > 0);
  }).timeout(180_000);
});
