import { setTimeout as sleep } from 'node:timers/promises';
import { Balancer, type Delivered } from './balancer.ts';
import { AppClient, predictionBody } from './client.ts';
import { delay, ok } from './fake-provider.ts';
import { percentile } from './keep-alive-client.ts';
import { type System, startProcesses, type TestProcess } from './system.ts';
import { until } from './until.ts';

const SERVICE_MS = 50;
/** The load before the first restart and after the last one. */
const CALM_MS = 1000;

/** What callers and operators saw. */
export interface RollingRestart {
  requests: number;
  answered: number;
  /** 503 with a Retry-After: code → count. */
  refused: Record<string, number>;
  /** Any other status, and requests that found no ingress: code → count. */
  others: Record<string, number>;
  /** Connections that broke under a request that has a row, and under one that has none. */
  brokenAfterAcceptance: number;
  brokenBefore: number;
  exitCodes: (number | string | null)[];
  suggested: number;
  units: number;
  reserved: number;
  p50Ms: number;
  p95Ms: number;
  slowestMs: number;
}

/**
 * Two ingresses and two workers under `perSecond` requests, each restarted in turn, `rounds` times: with the successor
 * started first, or after the old process has exited.
 */
export async function rollingRestart(options: {
  rounds: number;
  perSecond: number;
}): Promise<RollingRestart> {
  const env = { SANDBOX_UNITS: '1000000', LEASE_MS: '3000' };
  const system = await startProcesses({ webs: 2, workers: 2, env });
  try {
    return await restartUnderLoad(system, options);
  } finally {
    await system.stop();
  }
}

async function restartUnderLoad(
  system: System<TestProcess>,
  { rounds, perSecond }: { rounds: number; perSecond: number },
): Promise<RollingRestart> {
  system.provider.respond(delay(SERVICE_MS, ok()));
  const app = await system.app();
  const balancer = new Balancer(app.key);
  for (const { url } of system.webs) balancer.add(url);

  const deliveries: Promise<Delivered>[] = [];
  const load = setInterval(() => deliveries.push(balancer.predict(predictionBody())), 1000 / perSecond);
  const exitCodes: RollingRestart['exitCodes'] = [];
  const start = async (kind: 'web' | 'worker') => {
    const started = await system.launch(kind).ready();
    if (kind === 'web') balancer.add(started.url);
    return started;
  };
  const live = { web: [...system.webs], worker: [...system.workers] };
  await sleep(CALM_MS);
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of ['web', 'worker', 'web', 'worker'] as const) {
      const going = live[kind].shift();
      if (going === undefined) throw new Error(`no ${kind} to restart`);
      const isSuccessorFirst = exitCodes.length % 4 < 2 === (round % 2 === 0);
      if (isSuccessorFirst) live[kind].push(await start(kind));
      await going.stop('SIGTERM');
      exitCodes.push(exitOf(going));
      if (!isSuccessorFirst) live[kind].push(await start(kind));
    }
  }
  await sleep(CALM_MS);
  clearInterval(load);
  const delivered = await Promise.all(deliveries);
  balancer.close();

  const last = new AppClient(app.id, app.key, live.web[0]?.url ?? '');
  await until(async () => (await last.usage()).body.reserved_units === 0);
  const { body: usage } = await last.usage();
  const { rows } = await system.database.pool.query<{ request_id: string; state: string }>(
    `select facts::json ->> 'requestId' as request_id, state from history where party = $1`,
    [app.id],
  );
  const accepted = new Set(rows.map(({ request_id }) => request_id));
  const broken = delivered.filter((one) => one.broken !== undefined);
  const brokenAfterAcceptance = broken.filter(({ requestId }) => accepted.has(requestId)).length;
  const times = delivered.flatMap(({ answer }) => (answer?.status === 200 ? [answer.tookMs] : []));
  return {
    requests: delivered.length,
    answered: times.length,
    refused: tally(delivered.filter(isRefused)),
    others: tally(delivered.filter((one) => one.answer?.status !== 200 && !isRefused(one) && !one.broken)),
    brokenAfterAcceptance,
    brokenBefore: broken.length - brokenAfterAcceptance,
    exitCodes,
    suggested: rows.filter(({ state }) => state === 'suggested').length,
    units: usage.prediction_units,
    reserved: usage.reserved_units,
    p50Ms: Math.round(percentile(times, 0.5)),
    p95Ms: Math.round(percentile(times, 0.95)),
    slowestMs: Math.round(Math.max(...times)),
  };
}

/** The promises that a run broke, in words; none if it passed. */
export function brokenPromises(run: RollingRestart): string[] {
  const promises: [kept: boolean, promise: string][] = [
    [run.brokenAfterAcceptance + run.brokenBefore === 0, 'no connection breaks under a request'],
    [Object.keys(run.others).length === 0, 'no answer but 200, or 503 with Retry-After'],
    [run.answered > 0.9 * run.requests, 'nine of ten are answered'],
    [run.exitCodes.every((code) => code === 0), 'every process exits with 0'],
    [run.units === run.suggested, 'no answer is charged twice'],
    [run.answered <= run.suggested, 'no answer that is not in its row'],
    [run.reserved === 0, 'nothing stays reserved'],
  ];
  return promises.filter(([kept]) => !kept).map(([, promise]) => promise);
}

function isRefused({ answer }: Delivered): boolean {
  return answer?.status === 503 && (answer.retryAfterS ?? 0) >= 1;
}

function tally(delivered: Delivered[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { answer } of delivered) {
    const what = answer === undefined ? 'nobody to ask' : `${answer.status} ${answer.code}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

function exitOf({ child }: TestProcess): number | string | null {
  return child.exitCode ?? child.signalCode;
}
