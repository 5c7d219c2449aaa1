import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { unkept } from '../support/broken-promises.ts';
import { predictionBody } from '../support/client.ts';
import { delay } from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { callSteadily } from '../support/steadily.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/**
 * By hand: the load grows tenfold in one step and falls again, while a small controller starts and stops workers as
 * `/scale/predict` says. `bin/node test/acceptance/autoscale.ts --rate 3 --seconds 60`; exits with 1 if a call ended
 * with anything but 200 or a 503 `overloaded`, the pool did not follow the load, or the workers cost too much.
 */
const { values: options } = parseArgs({
  options: { rate: { type: 'string', default: '3' }, seconds: { type: 'string', default: '60' } },
});

const RATE = Number(options.rate);
const STEP = 10;
const STEP_MS = 1000 * Number(options.seconds);
const BEFORE_MS = 10_000;
const AFTER_MS = 60_000;
const SERVICE_MS = 400;
const SLOTS = 8;
/** Share of busy slots that the product aims at, also used by the oracle. */
const BUSY_SHARE = 0.7;
const WORKERS_MAX = 8;
const LOOK_INTERVAL_MS = 1000;
/** Maximum worker seconds, as a multiple of those of an oracle, which at all times has exactly the workers needed. */
const COST_MAX = 2.5;
/** A lower signal counts once it has lasted this long: Kubernetes' `stabilizationWindowSeconds`, here shorter. */
const SCALE_IN_AFTER_MS = 15_000;

await using _ = await setUp();
const operator = await freePort();
await using system = await startProcesses({
  webs: 0,
  env: { WORKER_CONCURRENCY: `${SLOTS}`, SANDBOX_UNITS: '1000000' },
});
await system.startWeb({ OPERATOR_PORT: `${operator}` });
system.provider.respond(delay(SERVICE_MS));
const result = await trial(system);
const broken = brokenPromises(result);
process.stdout.write(`${JSON.stringify({ ...result, broken }, undefined, 2)}\n`);
process.exitCode = broken.length === 0 ? 0 : 1;

async function trial({ app: makeApp }: System<TestProcess>) {
  const app = await makeApp();
  const client = new KeepAliveClient(app.key);
  const calls: Promise<{ status: number; code: string | undefined; tookMs: number }>[] = [];
  const call = () => void calls.push(client.predict(app.url, predictionBody()));
  const controller = control(system);
  const oracle = (rate: number) => Math.ceil((rate * SERVICE_MS) / 1000 / SLOTS / BUSY_SHARE);

  await callSteadily(RATE, BEFORE_MS, call);
  const stepAt = performance.now();
  await callSteadily(STEP * RATE, STEP_MS, call);
  const peak = controller.maxRunning;
  const backAt = performance.now();
  await callSteadily(RATE, AFTER_MS, call);
  const samples = await controller.stop();
  const answers = await Promise.all(calls);
  client.close();

  const enoughAt = (since: number) =>
    samples.find(({ at, workers }) => at >= since && workers >= oracle(STEP * RATE))?.at;
  const oneAgainAt = samples.find(({ at, workers }) => at >= backAt && workers === 1)?.at;
  const seconds = (at: number | undefined, since: number) =>
    at === undefined ? null : Math.round((at - since) / 100) / 10;
  const workerSeconds = samples.reduce((sum, { workers, forMs }) => sum + (workers * forMs) / 1000, 0);
  const oracleSeconds = (oracle(RATE) * (BEFORE_MS + AFTER_MS) + oracle(STEP * RATE) * STEP_MS) / 1000;
  const ok = answers.filter(({ status }) => status === 200).map(({ tookMs }) => tookMs);
  return {
    callsPerSecond: [RATE, STEP * RATE, RATE],
    calls: answers.length,
    answers: Object.fromEntries(
      [...Map.groupBy(answers, ({ status, code }) => `${status} ${code ?? ''}`.trimEnd())].map(
        ([end, of]) => [end, of.length],
      ),
    ),
    answeredMs: [0.5, 0.95, 0.99].map((share) => Math.round(percentile(ok, share))),
    workersOfTheOracle: [oracle(RATE), oracle(STEP * RATE)],
    maxWorkers: peak,
    enoughAfterS: seconds(enoughAt(stepAt), stepAt),
    oneAgainAfterS: seconds(oneAgainAt, backAt),
    workerSeconds: Math.round(workerSeconds),
    oracleSeconds: Math.round(oracleSeconds),
    cost: Math.round((100 * workerSeconds) / oracleSeconds) / 100,
  };
}

function brokenPromises(run: Awaited<ReturnType<typeof trial>>): string[] {
  return unkept([
    [
      Object.keys(run.answers).every((end) => end === '200' || end === '503 overloaded'),
      'every call ends with 200 or 503 overloaded',
    ],
    [run.maxWorkers >= (run.workersOfTheOracle[1] ?? 0), 'the pool grows as far as it has to'],
    [run.oneAgainAfterS !== null, 'one worker is left in the end'],
    [run.cost <= COST_MAX, `the workers cost at most ${COST_MAX} times as much as the oracle's`],
  ]);
}

interface Sample {
  at: number;
  /** Running workers, ready or not: each costs. */
  workers: number;
  forMs: number;
}

/** Follows the signal: scales up at once, and down when the signal has been lower for a while. */
function control({ workers: started, launch }: System<TestProcess>) {
  const runningWorkers = [...started];
  const stops: Promise<void>[] = [];
  const samples: Sample[] = [];
  const signals: { at: number; desired: number }[] = [];
  let isOver = false;
  const controller = {
    maxRunning: runningWorkers.length,
    async stop(): Promise<readonly Sample[]> {
      isOver = true;
      await loop;
      await Promise.all(stops);
      return samples;
    },
  };
  const loop = (async () => {
    while (!isOver) {
      const at = performance.now();
      const response = await fetch(`http://127.0.0.1:${operator}/scale/predict`);
      const { desired } = (await response.json()) as { desired: number };
      signals.push({ at, desired });
      const recentSignals = signals.filter((one) => one.at > at - SCALE_IN_AFTER_MS);
      const target = Math.min(WORKERS_MAX, Math.max(...recentSignals.map((one) => one.desired)));
      while (runningWorkers.length < target) runningWorkers.push(launch('worker'));
      while (runningWorkers.length > target)
        stops.push((runningWorkers.pop() as TestProcess).stop('SIGTERM'));
      controller.maxRunning = Math.max(controller.maxRunning, runningWorkers.length);
      await sleep(LOOK_INTERVAL_MS);
      samples.push({ at, workers: runningWorkers.length, forMs: performance.now() - at });
    }
  })();
  return controller;
}
