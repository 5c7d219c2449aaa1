import assert from 'node:assert/strict';
import { brokenPromises, rollingRestart } from '../support/rolling-restart.ts';

describe('rolling restart under load', function () {
  this.timeout(60_000);

  it('a rolling restart of two ingresses and two workers loses no request, charges none twice, and refuses only in due form', async () => {
    const run = await rollingRestart({ rounds: 1, perSecond: 100 });
    assert.deepEqual(brokenPromises(run), [], JSON.stringify(run));
  });
});
