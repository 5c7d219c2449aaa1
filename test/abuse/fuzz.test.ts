import assert from 'node:assert/strict';
import { errorsIn, FUZZED, fuzz } from '../support/fuzz/run.ts';
import { SCALE } from '../support/scale.ts';
import { useSystem } from '../support/system.ts';

const REQUESTS = 1500 * SCALE;
const SEED = 20261122;

describe('generated requests', () => {
  const system = useSystem(FUZZED);

  it(`generated requests get only answers that the OpenAPI document lists (seed ${SEED})`, async () => {
    const { requests, ends, failures } = await fuzz(system, {
      requests: REQUESTS,
      seed: SEED,
      connections: 8,
    });
    const told = failures.map(({ fault, sent }) => `${fault}\n  ${sent}`);
    assert.deepEqual(told, []);
    assert.deepEqual(errorsIn(system), []);
    assert.equal(requests, REQUESTS);
    assert.ok(ends.size > 0);
  }).timeout(180_000 * SCALE);
});
