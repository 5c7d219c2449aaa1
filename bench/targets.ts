import { randomBytes } from 'node:crypto';
import { type Child, startChild } from './child.ts';
import { install, startProduct } from './installation.ts';
import { removeKeys } from './stores.ts';

const APPS = 24;

/** Everything that can be measured, in the order of the results table, and what each needs besides PostgreSQL. */
export const TARGETS = {
  client: { title: 'load generator alone', needs: undefined },
  direct: { title: 'direct: Koa asks the provider', needs: undefined },
  naive: { title: 'naive: Koa, BullMQ, waitUntilFinished', needs: 'redis' },
  dbos: { title: 'DBOS: a workflow of one step', needs: 'peers' },
  restate: { title: 'Restate: a handler of one step', needs: 'peers' },
  'forecue-redis': { title: 'Forecue on Redis + PostgreSQL', needs: 'redis' },
  'forecue-postgres': { title: 'Forecue on PostgreSQL alone', needs: undefined },
  'forecue-redis-apps': { title: `Forecue on Redis + PostgreSQL, ${APPS} apps`, needs: 'redis' },
  'forecue-postgres-apps': { title: `Forecue on PostgreSQL alone, ${APPS} apps`, needs: undefined },
} as const;
export type TargetName = keyof typeof TARGETS;

export const isTarget = (name: string): name is TargetName => Object.hasOwn(TARGETS, name);

export interface Target {
  name: TargetName;
  url: string;
  /** Keys of the apps that call. */
  keys: string[];
  /** Processes whose CPU time counts as its cost, by their role. */
  pids: Readonly<Record<string, number>>;
}

export interface Bench {
  resources: AsyncDisposableStack;
  providerUrl: string;
  postgresUrl: string;
  redisUrl: string;
  peers: string;
  profile: boolean;
}

const NO_KEY = 'none';

export function startTarget(name: TargetName, bench: Bench): Promise<Target> {
  switch (name) {
    case 'client':
      return Promise.resolve({ name, url: bench.providerUrl, keys: [NO_KEY], pids: {} });
    case 'direct':
      return startDirect(bench);
    case 'naive':
      return startNaive(bench);
    case 'dbos':
      return startPeer(name, bench, [`${bench.providerUrl}/v1`, bench.postgresUrl, bench.peers]);
    case 'restate':
      return startPeer(name, bench, [`${bench.providerUrl}/v1`, bench.peers]);
    case 'forecue-redis':
      return startForecue(name, bench, { REDIS_URL: bench.redisUrl });
    case 'forecue-postgres':
      return startForecue(name, bench, {});
    case 'forecue-redis-apps':
      return startForecue(name, bench, { REDIS_URL: bench.redisUrl }, APPS);
    case 'forecue-postgres-apps':
      return startForecue(name, bench, {}, APPS);
  }
}

async function startDirect({ resources, providerUrl }: Bench): Promise<Target> {
  const web = resources.use(await startChild('direct', 'bench/direct.ts', { args: [`${providerUrl}/v1`] }));
  return { name: 'direct', url: web.url, keys: [NO_KEY], pids: pidsOf({ web }) };
}

async function startNaive({ resources, providerUrl, redisUrl }: Bench): Promise<Target> {
  const prefix = newPrefix();
  resources.defer(() => removeKeys(redisUrl, [prefix]));
  const workerArgs = [redisUrl, prefix, `${providerUrl}/v1`];
  const worker = resources.use(
    await startChild('naive-worker', 'bench/naive-worker.ts', { args: workerArgs }),
  );
  const web = resources.use(
    await startChild('naive-web', 'bench/naive-web.ts', { args: [redisUrl, prefix] }),
  );
  return { name: 'naive', url: web.url, keys: [NO_KEY], pids: pidsOf({ web, worker }) };
}

async function startPeer(name: 'dbos' | 'restate', { resources }: Bench, args: string[]): Promise<Target> {
  const web = resources.use(
    await startChild(name, `bench/${name}.ts`, { args, env: { RESTATE_LOGGING: 'ERROR' } }),
  );
  return { name, url: web.url, keys: [NO_KEY], pids: pidsOf({ web }) };
}

async function startForecue(
  name: TargetName,
  bench: Bench,
  store: { REDIS_URL?: string },
  apps = 1,
): Promise<Target> {
  const { resources, providerUrl, profile } = bench;
  const queuePrefix = newPrefix();
  const { databaseUrl, keys } = resources.use(await install(bench.postgresUrl, queuePrefix, apps));
  if (store.REDIS_URL) resources.defer(() => removeKeys(bench.redisUrl, [`{${queuePrefix}}`]));
  const env = { DATABASE_URL: databaseUrl, ...store };
  const { worker, web } = await startProduct(resources, {
    name,
    providerUrl,
    queuePrefix,
    env: { web: env, worker: env },
    profile,
  });
  return { name, url: web.url, keys, pids: pidsOf({ web, worker }) };
}

function pidsOf(children: Record<string, Child>): Target['pids'] {
  return Object.fromEntries(Object.entries(children).map(([what, { process }]) => [what, process.pid ?? 0]));
}

const newPrefix = () => `bench-${randomBytes(4).toString('hex')}`;
