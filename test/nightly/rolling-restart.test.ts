import assert from 'node:assert/strict';
import { rollingRestart } from '../support/rolling-restart.ts';
import { SCALE } from '../support/scale.ts';
import { interruptionsIn } from '../support/under-load.ts';

describe('rolling restart under load', function () {
  this.timeout(60_000 * SCALE);

  it('a rolling restart of two ingresses and two workers breaks no connection, loses no request and charges none twice #shutdown', async () => {
    const run = await rollingRestart({ rounds: SCALE, perSecond: 100 });
    assert.deepEqual(interruptionsIn(run), [], JSON.stringify(run));
    assert.deepEqual(run.exits, Array(4 * SCALE).fill(0));
  });
});
