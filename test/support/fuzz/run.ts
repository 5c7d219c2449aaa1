import fc from 'fast-check';
import { readWorkTimeouts } from '../../../shared/config/config.ts';
import { Env } from '../../../shared/config/env.ts';
import type { System } from '../system.ts';
import { faultOf } from './judge.ts';
import { type Plan, plans } from './plans.ts';
import { requestOf } from './request.ts';
import { Sender } from './send.ts';
import { operationOf, World } from './world.ts';

/** The fuzzed installation: workers for everything, no rate limits, the built-in predictor, callers from everywhere. */
export const FUZZED = {
  workerEntry: ['workers/main.ts', 'all'],
  env: {
    RATE_LIMIT_RPS: '0',
    OPENAI_API_KEY: '',
    DEFAULT_MODEL: 'local',
    SANDBOX_UNITS: '100000000',
    TRUST_PROXY: 'loopback',
    CORS_ORIGINS: 'https://app.example',
    LOG_LEVEL: 'warn',
  },
};

/** Time after which a request without an answer counts as hanging: the longest deadline, plus a margin. */
const HANG_MS = Math.max(...Object.values(readWorkTimeouts(new Env(FUZZED.env)))) + 5000;

export interface Options {
  requests: number;
  /** Equal seeds make equal requests, except for values learnt from answers that arrive in another order. */
  seed: number;
  connections: number;
}

export interface Failure {
  fault: string;
  sent: string;
}

export interface Report {
  requests: number;
  ends: Map<string, Map<string, number>>;
  failures: Failure[];
}

const PLANS_PER_SAMPLE = 100;

export async function fuzz(system: System, options: Options): Promise<Report> {
  const world = await World.open(system);
  const { requests, seed, connections } = options;
  const sender = new Sender(system.webs[0]?.url ?? '', { connections, hangMs: HANG_MS });
  const report: Report = { requests: 0, ends: new Map(), failures: [] };
  const upcoming = generatePlans(seed, requests);
  const work = async () => {
    for (const plan of upcoming) {
      await attempt(plan, world, sender, report);
      report.requests += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  sender.close();
  return report;
}

const ERROR_LINE = /^\{"level":[56]0/;

/** Returns the errors in the processes' logs, which no request may cause. */
export function errorsIn({ webs, workers }: System): string[] {
  return [...webs, ...workers].flatMap(({ log }) => log.split('\n').filter((line) => ERROR_LINE.test(line)));
}

function* generatePlans(seed: number, requests: number): Generator<Plan> {
  for (let made = 0; made < requests; made += PLANS_PER_SAMPLE)
    yield* fc.sample(plans, { seed: seed + made, numRuns: Math.min(PLANS_PER_SAMPLE, requests - made) });
}

async function attempt(plan: Plan, world: World, sender: Sender, report: Report): Promise<void> {
  const operation = operationOf(plan.operation);
  const request = requestOf(plan, operation, world.around(plan.caller));
  const sent = `${request.method} ${request.target} ${request.body?.toString() ?? ''}`.slice(0, 500);
  try {
    const received = await sender.send(request);
    count(report, operation.name, received === undefined ? 'no answer' : endOf(received));
    if (received === undefined) return;
    const fault = faultOf(plan, request, received);
    const exchange = `${sent}\n  -> ${received.status} ${received.text.slice(0, 500)}`;
    if (fault !== undefined) report.failures.push({ fault, sent: exchange });
    if (request.wire === undefined) await world.learn(request, plan, received);
  } catch (error) {
    count(report, operation.name, 'failed');
    report.failures.push({ fault: String(error), sent });
  }
}

function endOf({ status, text }: { status: number; text: string }): string {
  const [, code] = (status >= 400 && /"code":"(\w+)"/.exec(text)) || [];
  return code === undefined ? String(status) : `${status} ${code}`;
}

function count({ ends }: Report, name: string, end: string): void {
  const of = ends.get(name) ?? new Map<string, number>();
  ends.set(name, of.set(end, (of.get(end) ?? 0) + 1));
}
