import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { delay } from '../support/fake-provider.ts';
import { startLoad } from '../support/load.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const CALLERS = 8;
const SERVICE_MS = 100;
const KILLS = 3;
/** Time for which the ledger buffers calls before it writes them, with a margin for a slow machine. */
const BUFFERED_MS = 400;
/** Calls that one kill can lose: calls in flight, and ended calls that are still buffered. */
const MAX_LOST_CALLS = CALLERS * (1 + BUFFERED_MS / SERVICE_MS);

describe('ledger of a killed worker', function () {
  this.timeout(90_000);
  const system = useProcesses({ workers: 2, env: { LEASE_MS: '3000' } });

  it('when workers are killed, the provider call ledger loses at most running and just-ended calls', async () => {
    const app = await system.app({ plan: 'paid' });
    system.provider.respond(delay(SERVICE_MS));
    const load = startLoad((body) => app.predict(body), { callers: CALLERS });
    for (let n = 0; n < KILLS; n += 1) {
      await sleep(2000);
      await system.workers[n]?.stop();
      await system.startWorker();
    }
    await sleep(1000);
    const calls = await load.stop();
    const answered = calls.filter(({ reply }) => reply.status === 200).length;
    const { rows } = await until(async () => {
      const { body: usage } = await app.usage();
      const booked = await system.database.pool.query<{ n: number }>(
        'select count(*)::int as n from provider_calls where app_id = $1',
        [app.id],
      );
      return usage.reserved_units === 0 && usage.prediction_units === answered && booked;
    });
    const booked = rows[0]?.n ?? 0;
    const lacking = system.provider.calls.length - booked;
    assert.ok(booked >= answered - KILLS * MAX_LOST_CALLS, `${booked} booked for ${answered} answers`);
    assert.ok(lacking >= 0 && lacking <= KILLS * MAX_LOST_CALLS, `${lacking} are lacking`);
  });
});
