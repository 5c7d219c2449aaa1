import assert from 'node:assert/strict';
import { claimProbe, reportCircuit } from '../../../shared/db/stores/provider-circuits.ts';
import { useDatabase } from '../../support/database.ts';

describe('probe claim', () => {
  const database = useDatabase();

  it("exactly one of four concurrent claims to probe a provider's open circuit breaker is granted", async () => {
    const { pool } = database;
    const terms = { provider: 'p', failuresToOpen: 1, probeEveryMs: 60_000 };
    const news = { model: 'm', failures: 1, parties: [], fault: 'failed', pauseMs: null, succeeded: false };
    await reportCircuit(pool, terms, news);
    for (let round = 0; round < 50; round += 1) {
      await pool.query("update provider_circuits set probe_at = now() - interval '1 second'");
      const claims = await Promise.all(Array.from({ length: 4 }, () => claimProbe(pool, terms, 'm')));
      assert.equal(claims.filter(Boolean).length, 1, `in round ${round}`);
    }
  });
});
