import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startPostgres } from '../bin/start/postgres.ts';
import { freePort } from '../test/support/free-port.ts';
import { SCRATCH } from './child.ts';

const LOCAL_POSTGRES = 'postgres://postgres@127.0.0.1:5432/postgres';
const REDIS_START_MS = 5000;

/** A running server; if the bench has started it, disposing of it stops it. */
export interface Store {
  url: string;
  /** The server's version, and for PostgreSQL the settings that affect the figures. */
  facts: Record<string, string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens the PostgreSQL of `BENCH_DATABASE_URL`, else the local one, else the embedded one. */
export async function openPostgres(): Promise<Store> {
  const configuredUrl = process.env['BENCH_DATABASE_URL'];
  if (configuredUrl)
    return { url: configuredUrl, facts: await postgresFacts(configuredUrl), ...KEEP_RUNNING };
  const facts = await postgresFacts(LOCAL_POSTGRES).catch(() => undefined);
  if (facts !== undefined) return { url: LOCAL_POSTGRES, facts, ...KEEP_RUNNING };
  const { url, stop } = await startPostgres({ directory: join(SCRATCH, 'postgres') });
  return { url, facts: await postgresFacts(url), [Symbol.asyncDispose]: stop };
}

/** Opens the Redis of `BENCH_REDIS_URL`, or starts one without persistence; undefined without a `redis-server`. */
export async function openRedis(): Promise<Store | undefined> {
  const configuredUrl = process.env['BENCH_REDIS_URL'];
  if (configuredUrl) return { url: configuredUrl, facts: await redisFacts(configuredUrl), ...KEEP_RUNNING };
  const port = await freePort();
  const server = spawn(
    'redis-server',
    ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { cwd: SCRATCH, stdio: 'ignore' },
  );
  if (!(await hasStarted(server))) return undefined;
  const url = `redis://127.0.0.1:${port}`;
  return { url, facts: await redisFacts(url), [Symbol.asyncDispose]: () => stopServer(server) };
}

export async function removeKeys(url: string, prefixes: string[]): Promise<void> {
  const redis = new Redis(url);
  for (const prefix of prefixes) {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1000 }))
      if (keys.length > 0) await redis.unlink(keys);
  }
  redis.disconnect();
}

const KEEP_RUNNING = { [Symbol.asyncDispose]: async () => {} };

async function postgresFacts(url: string): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in ('server_version', 'synchronous_commit', 'fsync')`,
    );
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  } finally {
    await client.end();
  }
}

async function redisFacts(url: string): Promise<Record<string, string>> {
  const retryStrategy = (times: number) => (times * 50 < REDIS_START_MS ? 50 : null);
  const redis = new Redis(url, { retryStrategy, maxRetriesPerRequest: null });
  // Ignores connection errors, since the server may still be starting; after the last retry the command is rejected.
  redis.on('error', () => {});
  try {
    const info = await redis.info('server');
    return { server_version: info.match(/^redis_version:(\S+)/m)?.[1] ?? '' };
  } finally {
    redis.disconnect();
  }
}

async function hasStarted(server: ChildProcess): Promise<boolean> {
  return Promise.race([
    once(server, 'spawn').then(() => true),
    once(server, 'error').then(() => false),
  ]).catch(() => false);
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  server.kill('SIGTERM');
  await Promise.race([once(server, 'exit'), sleep(REDIS_START_MS).then(() => server.kill('SIGKILL'))]);
}
