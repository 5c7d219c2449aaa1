import { setTimeout as sleep } from 'node:timers/promises';
import { unkept } from './broken-promises.ts';
import { predictionBody } from './client.ts';
import { delay, ok } from './fake-provider.ts';
import { tally } from './flood.ts';
import { percentile } from './keep-alive-client.ts';
import type { LoadCall } from './load.ts';
import type { OwnServer } from './own-server.ts';
import type { System, SystemOptions, TestProcess } from './system.ts';
import { until, untilDone } from './until.ts';

const CALLERS = 40;
/** Limits of the provider's service time: some answers arrive during the outage, and some after it. */
const SERVICE_MS = { least: 1000, most: 5000 };
const REACHES_PROVIDER_WITHIN_MS = 15_000;
const CANCEL = { 'x-on-disconnect': 'cancel' };

/** An installation with the product's default lease, since outages are measured against it. */
export const OUTAGE_INSTALLATION: SystemOptions = {
  webs: 2,
  workers: 3,
  env: {
    LEASE_MS: '',
    PREDICTION_TIMEOUT_MS: '20000',
    SANDBOX_UNITS: '1000000',
    // Small enough that every worker gets some of the calls.
    WORKER_CONCURRENCY: '16',
  },
};

export interface OutageEffects {
  predictions: number;
  providerCalls: number;
  ends: Record<string, number>;
  /** Number of 503s without a Retry-After. */
  unhelpful: number;
  p50Ms: number;
  slowestMs: number;
  /** Answers to repeats of calls that had no 200. */
  askedAgain: Record<string, number>;
  units: number;
  reserved: number;
}

/** Lets forty callers wait until their calls have reached the provider, then runs `fail`, and returns its effects. */
export async function endure(system: System, fail: () => Promise<void>): Promise<OutageEffects> {
  const { provider, webs } = system;
  const app = await untilDone(() => system.app());
  await until(async () => {
    const warm = await Promise.all(webs.map((at) => app.predict(predictionBody(), { at })));
    return warm.every(({ status }) => status === 200);
  });
  const unitsBefore = (await app.usage()).body.prediction_units;
  provider.reset();
  provider.respond((response, call) => delay(between(SERVICE_MS), ok())(response, call));
  const pendingCalls = Array.from({ length: CALLERS }, async (_, n): Promise<LoadCall> => {
    const body = predictionBody();
    const startedAt = performance.now();
    const reply = await app.predict(body, { at: webs[n % webs.length] ?? app, headers: CANCEL });
    return { body, reply, startedAt, endedAt: performance.now() };
  });
  const allCalls = Promise.all(pendingCalls);
  // Keeps a rejection from counting as unhandled before it is awaited below.
  allCalls.catch(() => {});
  await provider.called(CALLERS, REACHES_PROVIDER_WITHIN_MS);
  await fail();
  const calls = await allCalls;
  await until(() => provider.running === 0, 20_000);
  const providerCalls = provider.calls.length;

  provider.respond(ok());
  const others = calls.filter(({ reply }) => reply.status !== 200);
  const again = await Promise.all(
    others.map(({ body }) => app.predict(body, { headers: { prefer: 'wait' } })),
  );
  const { body: usage } = await until(async () => {
    const reply = await app.usage();
    return reply.status === 200 && reply.body.reserved_units === 0 && reply;
  }).catch(() => app.usage());
  const times = calls.map(({ reply }) => reply.tookMs);
  return {
    predictions: CALLERS,
    providerCalls,
    ends: tally(calls.map(({ reply }) => reply)),
    unhelpful: calls.filter(({ reply }) => reply.status === 503 && !isHelpful(reply)).length,
    p50Ms: Math.round(percentile(times, 0.5)),
    slowestMs: Math.round(Math.max(...times)),
    askedAgain: tally(again),
    units: usage.prediction_units - unitsBefore,
    reserved: usage.reserved_units,
  };
}

const DOCUMENTED_ENDS = ['200', '503 service_unavailable', '503 overloaded', '504 prediction_timeout'];

export function brokenPromises(run: OutageEffects): string[] {
  const ends = Object.keys(run.ends);
  return unkept([
    [!ends.some((end) => end.startsWith('499')), 'nobody whose connection is open is cancelled'],
    [run.providerCalls <= 1.1 * run.predictions, 'no work is bought again'],
    [
      ends.every((end) => end.startsWith('499') || DOCUMENTED_ENDS.includes(end)),
      'every end is a documented one',
    ],
    [run.unhelpful === 0, 'a 503 says when to come again'],
    [Object.keys(run.askedAgain).every((end) => end === '200'), 'what failed succeeds when asked again'],
    [run.units === run.predictions && run.reserved === 0, 'the books balance'],
  ]);
}

/** Takes the server down for this time; `immediate` simulates a failover of this length. */
export async function takeDown(server: OwnServer, ms: number, how: 'fast' | 'immediate'): Promise<void> {
  const over = performance.now() + ms;
  await server.stop(how);
  await sleep(Math.max(0, over - performance.now()));
  await server.start();
}

export async function freeze(one: TestProcess | undefined, ms: number): Promise<void> {
  one?.kill('SIGSTOP');
  await sleep(ms);
  one?.kill('SIGCONT');
}

function between({ least, most }: { least: number; most: number }): number {
  return least + (most - least) * Math.random();
}

function isHelpful({ headers }: LoadCall['reply']): boolean {
  return Number(headers.get('retry-after')) >= 1;
}
