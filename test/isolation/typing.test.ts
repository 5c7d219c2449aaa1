import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { startLoad } from '../support/load.ts';
import { measureNoise } from '../support/noise.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const SLOTS = 16;
const SERVICE_MS = 600;
const LETTERS = 300;
const LETTER_EVERY_MS = 10;
const FLOOD_CALLERS = 120;

describe('typing', () => {
  const system = useProcesses({
    env: {
      WORKER_CONCURRENCY: `${SLOTS}`,
      PREDICTION_TIMEOUT_MS: '30000',
      SANDBOX_UNITS: '1000000',
    },
  });
  before(async () => {
    system.provider.respond(delay(SERVICE_MS, ok()));
  });

  it('while another app floods the queue, the 300th typed letter is predicted at most 1.5 s slower than the first #flood', async () => {
    const [app, flooding] = [await system.app(), await system.app()];
    const flood = startLoad((body) => flooding.predict(body), { callers: FLOOD_CALLERS });
    const noise = measureNoise(app);
    await until(() => flood.calls.length >= 2 * SLOTS);
    const letter = (revision: number) =>
      app.predict(
        predictionBody({ session_id: 's-1', draft: { text: `${'x'.repeat(revision)} `, revision } }),
      );
    const first = await letter(1);
    const typed: ReturnType<typeof letter>[] = [];
    for (let revision = 2; revision < LETTERS; revision += 1) {
      typed.push(letter(revision));
      await sleep(LETTER_EVERY_MS);
    }
    const last = await letter(LETTERS);
    const answers = tally(await Promise.all(typed));
    await noise.stop();
    await flood.stop();

    assert.deepEqual([first.status, last.status], [200, 200], `${first.text} ${last.text}`);
    // Letters sent in quick succession may arrive in either order.
    const documented = ['200', '409 context_revision_conflict', '499 prediction_superseded'];
    assert.deepEqual(
      Object.keys(answers).filter((answer) => !documented.includes(answer)),
      [],
    );
    assert.ok(
      last.tookMs < first.tookMs + 2.5 * SERVICE_MS + noise.slowest,
      `${Math.round(first.tookMs)} ms for the first, ${Math.round(last.tookMs)} ms for the last`,
    );
  });
});
