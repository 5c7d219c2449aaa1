import { setTimeout as sleep } from 'node:timers/promises';
import { type Balancer, startBalancer } from './balancer.ts';
import { AppClient } from './client.ts';
import { delay, ok } from './fake-provider.ts';
import { type System, startProcesses, type TestProcess } from './system.ts';
import { type LoadObservations, underLoad } from './under-load.ts';

const SERVICE_MS = 50;
const CALM_MS = 1000;

type Kind = 'web' | 'worker';

export interface RollingRestart extends LoadObservations {
  exits: (number | string | null)[];
}

export interface Installation {
  system: System<TestProcess>;
  url: string;
}

interface Rounds {
  rounds: number;
  perSecond: number;
  env?: Record<string, string>;
  /** Called before each round; resolves with settings for the processes that the round starts. */
  before?: (round: number, installation: Installation) => Promise<Record<string, string>>;
  /** Called after the last round, while all processes still run. */
  after?: () => Promise<unknown>;
}

/**
 * Restarts two ingresses behind a balancer and two workers in turn, `rounds` times, under `perSecond` requests a
 * second. In half of the restarts the successor starts first, in the others after the old process has exited.
 */
export async function rollingRestart(options: Rounds): Promise<RollingRestart> {
  const env = { SANDBOX_UNITS: '1000000', LEASE_MS: '3000', TRUST_PROXY: 'loopback', ...options.env };
  await using system = await startProcesses({ webs: 2, workers: 2, env });
  await using balancer = await startBalancer();
  system.provider.respond(delay(SERVICE_MS, ok()));
  for (const { url } of system.webs) balancer.add(url);
  return await restartUnderLoad(system, balancer, options);
}

async function restartUnderLoad(
  system: System<TestProcess>,
  balancer: Balancer,
  { rounds, perSecond, before = async () => ({}), after }: Rounds,
): Promise<RollingRestart> {
  const { id, key } = await system.app();
  const app = new AppClient(id, key, balancer.url);
  const exits: RollingRestart['exits'] = [];
  const live = { web: [...system.webs], worker: [...system.workers] };
  const restart = async (kind: Kind, isSuccessorFirst: boolean, settings: Record<string, string>) => {
    const start = async () => {
      const started = await system.launch(kind, settings).ready();
      if (kind === 'web') balancer.add(started.url);
      live[kind].push(started);
    };
    const predecessor = live[kind].shift();
    if (predecessor === undefined) throw new Error(`no ${kind} to restart`);
    if (isSuccessorFirst) await start();
    balancer.remove(predecessor.url);
    await predecessor.stop('SIGTERM');
    exits.push(exitOf(predecessor));
    if (!isSuccessorFirst) await start();
  };
  const load = { app, pool: system.database.pool, provider: system.provider };
  const seen = await underLoad(load, perSecond, async () => {
    await sleep(CALM_MS);
    for (let round = 0; round < rounds; round += 1) {
      const settings = await before(round, { system, url: balancer.url });
      for (const [n, kind] of (['web', 'worker', 'web', 'worker'] as const).entries())
        await restart(kind, n < 2 === (round % 2 === 0), settings);
    }
    await sleep(CALM_MS);
    await after?.();
  });
  return { ...seen, exits };
}

export function exitOf({ child }: TestProcess): number | string | null {
  return child.exitCode ?? child.signalCode;
}
