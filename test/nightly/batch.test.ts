import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { bySchema, delay, ok, status } from '../support/fake-provider.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { forPrompts, inputsOf, predictBatch, proposeReplies } from '../support/replies.ts';
import { promisedMs, SCALE } from '../support/scale.ts';
import { useProcesses } from '../support/system.ts';

const PROMPTS = 100;
const SERVICE_MS = 200;
/** Slots of the pool, of which one party gets 20. */
const SLOTS = 22;
const PARTY_SLOTS = 20;
const LEAST_MS = (PROMPTS / PARTY_SLOTS) * SERVICE_MS;
const BATCH_MAX_MS = promisedMs(1.15 * LEAST_MS + 100, 3 * LEAST_MS);
const SLOWDOWN_MAX = SCALE > 1 ? 1.2 : 2;
const FAILING_PROMPTS = ['Prompt 11?', 'Prompt 50?', 'Prompt 99?'];
const CALLERS = 4;
const CALLS_MS = 5000;

describe('batches beside predictions', function () {
  this.timeout(120_000 * SCALE);
  // One process serves all pools, so they share everything but slots.
  const system = useProcesses({
    workerEntry: ['workers/main.ts', 'all'],
    env: { BATCH_CONCURRENCY: `${SLOTS}` },
  });
  let person: UserClient;
  before(async () => {
    const reply = forPrompts(
      (prompt) => FAILING_PROMPTS.includes(prompt),
      status(500),
      proposeReplies([{ response: 'Blue' }]),
    );
    system.provider.respond(delay(SERVICE_MS, bySchema({ reply }, ok())));
    person = await signUp(system);
    await askBatch();
  });

  it('a batch of 100 prompts keeps 20 slots busy, and returns its results in order, with the prompts that failed', async () => {
    for (let n = 0; n < 5 * SCALE; n += 1) {
      const tookMs = await askBatch();
      assert.ok(tookMs < BATCH_MAX_MS, `a batch took ${tookMs} ms`);
    }
  });

  it('batches hardly delay predictions: each pool has slots of its own #pools', async () => {
    const alone = await predictionsFor(CALLS_MS * SCALE);
    const over = new AbortController();
    const batches = (async () => {
      while (!over.signal.aborted) await askBatch();
    })();
    const beside = await predictionsFor(CALLS_MS * SCALE);
    over.abort();
    await batches;
    const [before, during] = [percentile(alone, 0.95), percentile(beside, 0.95)];
    assert.ok(during < SLOWDOWN_MAX * before, `p95 ${before} ms alone, ${during} ms beside batches`);
  });

  async function askBatch(): Promise<number> {
    const { status: code, body, tookMs } = await predictBatch(person, inputsOf(PROMPTS));
    const failed = body.results.flatMap((item) => ('error' in item ? `Prompt ${item.index}?` : []));
    assert.deepEqual(
      [code, body.succeeded, failed],
      [200, PROMPTS - FAILING_PROMPTS.length, FAILING_PROMPTS],
    );
    assert.ok(body.results.every(({ index }, place) => index === place));
    return tookMs;
  }

  async function predictionsFor(ms: number): Promise<number[]> {
    const app = await system.app();
    await app.predict(predictionBody());
    const over = performance.now() + ms;
    const times: number[] = [];
    const caller = async () => {
      while (performance.now() < over) {
        const { status: code, tookMs } = await app.predict(predictionBody());
        assert.equal(code, 200);
        times.push(tookMs);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    return times;
  }
});
