import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import { takeSteps } from '../../../shared/db/steps.ts';
import { deleteOldHistory } from '../../../shared/db/stores/work/forget.ts';

describe('steps of housekeeping', () => {
  it('a run of housekeeping steps that is told to stop ends after the current step, and a later run takes no step', async () => {
    const stopping = new AbortController();
    let steps = 0;
    async function* endless() {
      for (;;) {
        steps += 1;
        if (steps === 3) stopping.abort();
        yield;
      }
    }
    assert.equal(await takeSteps(endless(), 60_000, stopping.signal), false);
    assert.equal(await takeSteps(endless(), 60_000, stopping.signal), false);
    assert.equal(steps, 3);
  });

  it('the deletion of expired rows runs no further statement on any table once it is told to stop', async () => {
    const stopping = new AbortController();
    let statements = 0;
    const full = Array.from({ length: 1000 }, () => ({}));
    const query = async () => {
      statements += 1;
      if (statements === 3) stopping.abort();
      return { rows: full };
    };
    await deleteOldHistory({ query } as unknown as Pool, stopping.signal);
    assert.equal(statements, 3);
  });
});
