import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { unkept } from '../support/broken-promises.ts';
import { predictionBody } from '../support/client.ts';
import { bySchema, delay, ok, status } from '../support/fake-provider.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { forPrompts, inputsOf, predictBatch, proposeReplies } from '../support/replies.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/**
 * By hand: how long a batch of 100 prompts takes with a provider of 200 ms and 20 slots, and how much batches delay
 * interactive predictions. One worker process serves all pools, so they share everything but slots.
 */
const PROMPTS = 100;
const SERVICE_MS = 200;
/** Slots of the pool, of which one party gets 20. */
const SLOTS = 22;
const PARTY_SLOTS = 20;
const BATCH_MAX_MS = 1.15 * (PROMPTS / PARTY_SLOTS) * SERVICE_MS + 100;
const SLOWDOWN_MAX = 1.2;
const FAILING_PROMPTS = ['Prompt 11?', 'Prompt 50?', 'Prompt 99?'];

const { values: options } = parseArgs({
  options: {
    batches: { type: 'string', default: '10' },
    /** Callers of interactive predictions; each makes one call after another. */
    callers: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '10' },
  },
});

await using _ = await setUp();
await using system = await startProcesses({
  workerEntry: ['workers/main.ts', 'all'],
  env: { BATCH_CONCURRENCY: `${SLOTS}`, LOG_LEVEL: 'warn' },
});
const run = await measure(system);
console.log(JSON.stringify(run, undefined, 2));
process.exitCode = run.broken.length === 0 ? 0 : 1;

async function measure(installation: System<TestProcess>) {
  const reply = forPrompts(
    (prompt) => FAILING_PROMPTS.includes(prompt),
    status(500),
    proposeReplies([{ response: 'Blue' }]),
  );
  installation.provider.respond(delay(SERVICE_MS, bySchema({ reply }, ok())));
  const person = await signUp(installation);
  await batchMs(person);
  const tookMs: number[] = [];
  for (let n = 0; n < Number(options.batches); n += 1) tookMs.push(await batchMs(person));
  const aloneMs = await interactiveMs(installation);
  const over = new AbortController();
  const batches = repeat(() => batchMs(person), over.signal);
  const besideMs = await interactiveMs(installation);
  over.abort();
  const p95 = [percentile(aloneMs, 0.95), percentile(besideMs, 0.95)] as const;
  const broken = unkept([
    [Math.max(...tookMs) < BATCH_MAX_MS, `every batch takes less than ${BATCH_MAX_MS} ms`],
    [p95[1] < SLOWDOWN_MAX * p95[0], `interactive predictions keep their p95 within ${SLOWDOWN_MAX} ×`],
  ]);
  return {
    batchMs: { median: Math.round(percentile(tookMs, 0.5)), slowest: Math.round(Math.max(...tookMs)) },
    interactive: {
      alone: { calls: aloneMs.length, p50: percentile(aloneMs, 0.5), p95: p95[0] },
      beside: { calls: besideMs.length, p50: percentile(besideMs, 0.5), p95: p95[1], batches: await batches },
    },
    broken,
  };
}

/** Returns the time of one batch; its results must be complete, in order, and have the expected errors. */
async function batchMs(person: UserClient): Promise<number> {
  const since = performance.now();
  const { status: code, body } = await predictBatch(person, inputsOf(PROMPTS));
  const ms = performance.now() - since;
  const failed = body.results.flatMap((item) => ('error' in item ? `Prompt ${item.index}?` : []));
  const isOrdered = body.results.every(({ index }, place) => index === place);
  if (
    code !== 200 ||
    !isOrdered ||
    body.succeeded !== PROMPTS - FAILING_PROMPTS.length ||
    `${failed}` !== `${FAILING_PROMPTS}`
  )
    throw new Error(`a batch was answered ${code}, ${body.succeeded} succeeded, failed: ${failed}`);
  return ms;
}

async function interactiveMs({ app: makeApp }: System<TestProcess>): Promise<number[]> {
  const app = await makeApp();
  const times: number[] = [];
  const ask = async () => {
    const since = performance.now();
    const answer = await app.predict(predictionBody());
    times.push(performance.now() - since);
    if (answer.status !== 200) throw new Error(`a prediction was answered ${answer.status}`);
  };
  await ask();
  times.length = 0;
  const over = AbortSignal.timeout(Number(options.seconds) * 1000);
  await Promise.all(Array.from({ length: Number(options.callers) }, () => repeat(ask, over)));
  return times;
}

/** Resolves with the number of times. */
async function repeat(work: () => Promise<unknown>, over: AbortSignal): Promise<number> {
  let times = 0;
  while (!over.aborted) {
    await work();
    times += 1;
  }
  return times;
}
