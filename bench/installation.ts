import { randomBytes } from 'node:crypto';
import { openDatabase } from '../shared/db/orm.ts';
import { createApp, type NewApp } from '../shared/db/stores/apps.ts';
import { createLog } from '../shared/log.ts';
import { migrate } from '../shared/process/migrate.ts';
import { administer, databaseUrl } from '../test/support/database.ts';
import { type Child, startChild } from './child.ts';

export interface Installation {
  databaseUrl: string;
  /** One for each app. */
  keys: [string, ...string[]];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Creates the database; disposing of it drops it. */
export async function install(server: string, queuePrefix: string, apps = 1): Promise<Installation> {
  const name = `forecue_bench_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name}`);
  const url = databaseUrl(server, name);
  const drop = () => administer(server, `drop database ${name} with (force)`);
  try {
    await migrate({ directUrl: url, queuePrefix });
    return { databaseUrl: url, keys: await makeApps(url, apps), [Symbol.asyncDispose]: drop };
  } catch (error) {
    await drop();
    throw error;
  }
}

async function makeApps(url: string, apps: number): Promise<[string, ...string[]]> {
  const config = { database: { url, directUrl: url, poolSize: 2 } };
  const database = await openDatabase(config, createLog('bench', 'warn'), 'forecue bench');
  try {
    const app: NewApp = { name: 'bench', redirectUris: [], plan: 'sandbox', capCents: null };
    const make = async () => (await createApp(database.orm.em.fork(), app)).key;
    return [await make(), ...(await Promise.all(Array.from({ length: apps - 1 }, make)))];
  } finally {
    await database.close();
  }
}

export interface ProductOptions {
  name: string;
  providerUrl: string;
  queuePrefix: string;
  /** Pool that the worker serves; `predict` by default. */
  pool?: string;
  /** Settings of the stores, which each process may reach in its own way. */
  env: { web: Record<string, string>; worker: Record<string, string> };
  profile?: boolean;
}

/** Starts an ingress and a worker. `resources` disposes of them. */
export async function startProduct(
  resources: AsyncDisposableStack,
  options: ProductOptions,
): Promise<{ web: Child; worker: Child }> {
  const { name, pool = 'predict', profile = false } = options;
  const common = {
    PORT: '0',
    HOST: '127.0.0.1',
    OPERATOR_PORT: '0',
    PUBLIC_URL: 'http://localhost',
    JWT_SECRET: 'bench'.repeat(8),
    ADMIN_TOKEN: 'bench'.repeat(8),
    // High limits that no call reaches: each call is still counted, since the cost of that belongs to the figures.
    RATE_LIMIT_RPS: '1000000',
    RATE_LIMIT_BURST: '1000000',
    QUEUE_PREFIX: options.queuePrefix,
    OPENAI_API_KEY: 'sk-bench',
    OPENAI_BASE_URL: `${options.providerUrl}/v1`,
    DEFAULT_MODEL: 'bench',
    SANDBOX_UNITS: '1000000000',
  };
  const start = async (kind: 'web' | 'worker', file: string, args: string[]) =>
    resources.use(
      await startChild(`${name}-${kind}`, file, { args, env: { ...common, ...options.env[kind] }, profile }),
    );
  const worker = await start('worker', 'workers/main.ts', [pool]);
  return { worker, web: await start('web', 'ingress/main.ts', []) };
}
