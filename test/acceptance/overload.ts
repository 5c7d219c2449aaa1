import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setUp } from '../setup.ts';
import { unkept } from '../support/broken-promises.ts';
import { predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { type Answer, KeepAliveClient, percentile } from '../support/keep-alive-client.ts';
import { residentMb } from '../support/resident-memory.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';

/** By hand: five times the workers' capacity, for 30 s, with the default deadline. */
const SLOTS = 40;
const SERVICE_MS = 400;
const CAPACITY = (SLOTS * 1000) / SERVICE_MS;
const OVERLOAD_MS = 30_000;
const DEADLINE_MS = 10_000;
const LOOK_AFTER_MS = 8000;
const MEMORY_INTERVAL_MS = 5000;

interface EndedCall extends Answer {
  at: number;
}

await using _ = await setUp();
await using system = await startProcesses({
  env: { WORKER_CONCURRENCY: `${SLOTS}`, SANDBOX_UNITS: '1000000', LEASE_MS: '3000' },
});
system.provider.respond(delay(SERVICE_MS, ok()));
const result = await overload(system);
const broken = brokenPromises(result);
console.log(JSON.stringify({ ...result, broken }, undefined, 2));
process.exitCode = broken.length === 0 ? 0 : 1;

async function overload({ app: makeApp, webs, provider }: System<TestProcess>) {
  const app = await makeApp();
  const client = new KeepAliveClient(app.key);
  const ended: Promise<EndedCall>[] = [];
  const ask = async (): Promise<EndedCall> => {
    const answer = await client.predict(app.url, predictionBody());
    return { ...answer, at: performance.now() };
  };
  const ownDelay = monitorEventLoopDelay({ resolution: 1 });
  const memoryMb = [await residentMb(webs[0]?.child.pid)];

  // The client's own delay is part of every figure below, so it is printed too.
  ownDelay.enable();
  const since = performance.now();
  await callAndLook(
    5 * CAPACITY,
    OVERLOAD_MS,
    () => ended.push(ask()),
    async () => {
      memoryMb.push(await residentMb(webs[0]?.child.pid));
    },
  );
  const over = performance.now();
  ownDelay.disable();
  const offered = ended.length;

  // Half the workers' capacity, to see when everything is accepted again.
  const after: Promise<EndedCall>[] = [];
  await callAndLook(CAPACITY / 2, LOOK_AFTER_MS, () => after.push(ask()));
  const answers = await Promise.all(ended);
  const later = await Promise.all(after);
  client.close();

  const refused = answers.filter(({ code }) => code === 'overloaded');
  const accepted = answers.filter(({ code }) => code !== 'overloaded');
  const inTime = accepted.filter(({ status, tookMs }) => status === 200 && tookMs <= DEADLINE_MS);
  const refusalMs = refused.map(({ tookMs }) => tookMs);
  const lastRefusal = Math.max(over, ...later.filter(({ status }) => status !== 200).map(({ at }) => at));
  const { body: usage } = await app.usage();
  return {
    capacityPerSecond: CAPACITY,
    offeredPerSecond: Math.round(offered / ((over - since) / 1000)),
    answeredPerSecond: Math.round(inTime.length / ((over - since) / 1000)),
    offered,
    refused: refused.length,
    refusedInForm: refused.filter(({ retryAfterS }) => (retryAfterS ?? 0) >= 1).length,
    refusalMs: roundAll([0.5, 0.95, 0.99].map((share) => percentile(refusalMs, share))),
    refusedUnder50Ms: refusalMs.filter((ms) => ms < 50).length / refused.length,
    accepted: accepted.length,
    acceptedInTime: inTime.length,
    acceptedMs: roundAll(
      [0.5, 0.95, 1].map((share) =>
        percentile(
          accepted.map(({ tookMs }) => tookMs),
          share,
        ),
      ),
    ),
    others: accepted.filter(({ status }) => status !== 200).map(({ status, code }) => `${status} ${code}`),
    memoryMb,
    secondsUntilNormal: (lastRefusal - over) / 1000,
    laterRefused: later.filter(({ status }) => status !== 200).length,
    units: usage.prediction_units,
    reserved: usage.reserved_units,
    answered: [...answers, ...later].filter(({ status }) => status === 200).length,
    providerCalls: provider.calls.length,
    clientDelayP99Ms: Math.round(ownDelay.percentile(99) / 1e6),
  };
}

function brokenPromises(run: Awaited<ReturnType<typeof overload>>): string[] {
  const [, , warm = 0, ...rest] = run.memoryMb;
  return unkept([
    [(run.refusalMs[1] ?? Number.POSITIVE_INFINITY) < 50, '95 of 100 refusals come within 50 ms'],
    [run.refusedInForm === run.refused, 'a refusal says when to come again'],
    [run.acceptedInTime > 0.99 * run.accepted, 'what is accepted is answered in time'],
    [Math.max(...rest) < 1.25 * warm, 'memory stays flat'],
    [run.secondsUntilNormal <= 5, 'back to normal within 5 s'],
    [run.units === run.answered && run.reserved === 0, 'the books balance'],
  ]);
}

/** Runs `call` `perSecond` times a second, whatever its outcome, and `look` every few seconds and at the end. */
async function callAndLook(
  perSecond: number,
  forMs: number,
  call: () => void,
  look: () => Promise<void> = async () => {},
): Promise<void> {
  const since = performance.now();
  let looks = 0;
  for (let done = 0, passed = 0; passed < forMs; passed = performance.now() - since) {
    for (; done < (passed * perSecond) / 1000; done += 1) call();
    if (passed > (looks + 1) * MEMORY_INTERVAL_MS) {
      looks += 1;
      await look();
    }
    await sleep(5);
  }
  await look();
}

function roundAll(values: number[]): number[] {
  return values.map((value) => Math.round(value * 10) / 10);
}
