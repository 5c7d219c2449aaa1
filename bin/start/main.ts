import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ingressConfig, workerConfig } from '../../shared/config/config.ts';
import { withSecret } from '../../shared/config/development-secret.ts';
import { withEmbeddedDatabase } from '../../shared/config/embedded-database.ts';
import { Env } from '../../shared/config/env.ts';
import { migrate } from '../../shared/migrate.ts';
import { guide } from './guide.ts';
import { lockFolder } from './lock.ts';
import { assertPortFree } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { makePrivateFolder, writePrivateFile } from './private-files.ts';
import { sandboxKey } from './sandbox-app.ts';
import { seconds } from './seconds.ts';
import { type ProcessSpec, SupervisedProcess } from './supervised-process.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');
/** How long orphans of a killed start may take to release their ports. */
const ORPHANS_WITHIN_MS = 10_000;

/**
 * `npm start`: PostgreSQL unless there is a `DATABASE_URL`, the migrations, the ingress, one process for all worker
 * pools, and a sandbox app. Never returns: when it is told to stop it throws the signal's reason, after everything that
 * it opened has been closed in reverse order.
 */
async function start(data: string, stopping: AbortSignal): Promise<never> {
  await using opened = new AsyncDisposableStack();
  const stopped = rejectionOf(stopping);
  const files = {
    address: join(data, 'address'),
    appKey: join(data, 'app-key'),
    databaseUrl: join(data, 'database-url'),
    logs: join(data, 'log'),
    postgres: join(data, 'postgres'),
  };

  await makePrivateFolder(data);
  await mkdir(files.logs, { recursive: true, mode: 0o700 });
  opened.use(lockFolder(data) ?? (await alreadyRunning(files.address)));
  const embedded = usesEmbeddedPostgres();
  await assertPortsFree(data, embedded, existsSync(files.address));
  for (const file of [files.address, files.databaseUrl]) {
    await rm(file, { force: true });
    opened.defer(() => rm(file, { force: true }));
  }

  let databaseUrl: string | undefined;
  if (embedded) {
    const what = existsSync(files.postgres) ? 'Starting PostgreSQL' : 'Preparing PostgreSQL (first start)';
    const postgres = await step(what, startPostgres({ directory: files.postgres, say }));
    opened.defer(() => postgres.stop());
    await writePrivateFile(files.databaseUrl, `${postgres.url}\n`);
    databaseUrl = postgres.url;
    stopping.throwIfAborted();
  }

  const { web, worker } = configure(data, databaseUrl);
  const { directUrl } = web.config.database;
  const target = embedded ? 'the database' : 'the database at DATABASE_URL';
  await step(`Migrating ${target}`, migrate({ directUrl, queuePrefix: web.config.queuePrefix }));
  stopping.throwIfAborted();

  const workers = opened.use(new SupervisedProcess(specOf('worker', ['all'], worker.env, files.logs)));
  const ingress = opened.use(new SupervisedProcess(specOf('web', [], web.env, files.logs)));
  const ready = Promise.all([ingress.ready(), workers.ready()]);
  const [address = ''] = await step('Starting the ingress and the workers', Promise.race([ready, stopped]));
  // A restarted ingress keeps its port, even if the first one picked any free one.
  web.env['PORT'] = new URL(address).port;
  await writePrivateFile(files.address, `${address}\n`);

  if (web.config.production) say(`\n  address    ${address}\n`);
  else say(guide(address, await sandboxKey(files.appKey, address, web.config), worker.config, files.logs));
  say(`Forecue is ready in ${seconds(performance.now())}. Ctrl-C stops it.`);
  // `await` keeps everything open until then.
  return await stopped;
}

/** In production there is none: the configuration requires a `DATABASE_URL`. */
function usesEmbeddedPostgres(): boolean {
  const env = new Env(process.env);
  return !env.has('DATABASE_URL') && env.text('NODE_ENV') !== 'production';
}

/** The environment and configuration of both processes. They share this machine, so the worker takes the next operator port. */
function configure(data: string, databaseUrl: string | undefined) {
  const env = databaseUrl === undefined ? { ...process.env } : withEmbeddedDatabase(process.env, databaseUrl);
  const webEnv = withSecret(env, data);
  const web = { env: webEnv, config: ingressConfig(webEnv) };
  const { port } = web.config.operator;
  const workerEnv = { ...env, OPERATOR_PORT: String(port === 0 ? 0 : port + 1) };
  return { web, worker: { env: workerEnv, config: workerConfig(workerEnv) } };
}

/** Checks the configuration and its ports first, so that a mistake is reported before the slow steps. */
async function assertPortsFree(data: string, embedded: boolean, afterKill: boolean): Promise<void> {
  const { web, worker } = configure(data, embedded ? 'postgres://127.0.0.1' : undefined);
  const withinMs = afterKill ? ORPHANS_WITHIN_MS : 0;
  await assertPortFree({ variable: 'PORT', ...web.config }, withinMs);
  for (const { operator } of [web.config, worker.config])
    await assertPortFree({ variable: 'OPERATOR_PORT', ...operator }, withinMs);
}

function specOf(name: 'web' | 'worker', args: string[], env: NodeJS.ProcessEnv, logs: string): ProcessSpec {
  const entry = join(CHECKOUT, name === 'web' ? 'ingress/main.ts' : 'workers/main.ts');
  return { name, entry, args, env, log: join(logs, `${name}.log`), say };
}

async function alreadyRunning(addressFile: string): Promise<never> {
  const address = await readFile(addressFile, 'utf8').catch(() => '');
  const where = address === '' ? 'it has no address yet' : `at ${address.trim()}`;
  throw new Error(`Forecue already runs in this checkout: ${where}`);
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  signal.addEventListener('abort', () => reject(signal.reason));
  return promise;
}

async function step<T>(what: string, work: Promise<T>): Promise<T> {
  const startedAt = performance.now();
  process.stdout.write(`${what} … `);
  let outcome = 'not done';
  try {
    const result = await work;
    outcome = seconds(performance.now() - startedAt);
    return result;
  } finally {
    say(outcome);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (stopping.signal.aborted) return;
    say('\nStopping …');
    stopping.abort(new Error(`stopped by ${signal}`));
  });

try {
  await start(resolve(process.argv[2] ?? join(CHECKOUT, '.data')), stopping.signal);
} catch (error) {
  if (error === stopping.signal.reason) say('Stopped.');
  else {
    // A host name with several addresses fails with one error per address and no message of its own.
    const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
    process.stderr.write(`${first instanceof Error ? first.message : String(first)}\n`);
    process.exitCode = 1;
  }
}
