import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ingressConfig, workerConfig } from '../../shared/config/config.ts';
import { usesEmbeddedDatabase, withEmbeddedDatabase, withSecrets } from '../../shared/config/development.ts';
import { Env } from '../../shared/config/env.ts';
import { mcpConfig } from '../../shared/config/mcp.ts';
import { messageOf } from '../../shared/errors/message-of.ts';
import { urlOf } from '../../shared/process/url.ts';
import { print } from '../../shared/text/visible.ts';
import { bundleOf, bundleProcesses } from '../bundle.ts';
import { packClient } from '../client/pack.ts';
import { buildChangedConsole, canBuild } from '../console/build.ts';
import { CHECKOUT, digestOf } from '../digest.ts';
import { lockFolder, makePrivateFolder, writePrivateFile } from './files.ts';
import { clientGuide, guide, toolServerGuide } from './guides.ts';
import { assertPortFree, isFree, portOf } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { findSandboxKey, isMigrated } from './prepared.ts';
import { formatSeconds, SupervisedProcess } from './supervised-process.ts';
import { runTask } from './task.ts';

const ENTRIES = { web: 'ingress/main.ts', worker: 'workers/main.ts', mcp: 'ingress/mcp/main.ts' };
/** Stands for the address of the embedded database until it runs. */
const ANY_DATABASE = 'postgres://127.0.0.1';
/** Time that the processes of an earlier, killed `npm start` get to release their ports. */
const ORPHANS_GRACE_MS = 10_000;

/** Runs `npm start`. Never returns: closes everything once `stopping` aborts, and throws the abort reason. */
async function start(data: string, stopping: AbortSignal): Promise<never> {
  await using opened = new AsyncDisposableStack();
  const stopRejection = rejectionOf(stopping);
  const files = {
    address: join(data, 'address'),
    appKey: join(data, 'app-key'),
    databaseUrl: join(data, 'database-url'),
    logs: join(data, 'log'),
    postgres: join(data, 'postgres'),
    /** Holds the digest of the sources by which the embedded database was migrated. */
    migrated: join(data, 'postgres/migrated'),
  };

  await makePrivateFolder(data);
  await mkdir(files.logs, { recursive: true, mode: 0o700 });
  opened.use(lockFolder(data) ?? (await throwAlreadyRunning(files.address)));
  const isEmbedded = usesEmbeddedDatabase(process.env);
  const env = await withFreePorts(data, isEmbedded, existsSync(files.address));
  for (const file of [files.address, files.databaseUrl]) {
    await rm(file, { force: true });
    opened.defer(() => rm(file, { force: true }));
  }

  const making = make(configure(env, data, isEmbedded ? ANY_DATABASE : undefined).web.config);
  making.catch(() => undefined);
  let databaseUrl: string | undefined;
  if (isEmbedded) {
    const what = existsSync(files.postgres) ? 'Starting PostgreSQL' : 'Preparing PostgreSQL (first start)';
    const postgres = await step(what, startPostgres({ directory: files.postgres, say }));
    opened.defer(() => postgres.stop());
    await writePrivateFile(files.databaseUrl, `${postgres.url}\n`);
    databaseUrl = postgres.url;
    stopping.throwIfAborted();
  }

  const { web, worker } = configure(env, data, databaseUrl);
  const { directUrl } = web.config.database;
  const target = isEmbedded ? 'the database' : 'the database at DATABASE_URL';
  const { queuePrefix } = web.config;
  const digest = digestOf('migrations', 'shared');
  const isUpToDate = isEmbedded && (await isMigrated(directUrl, files.migrated, digest));
  if (!isUpToDate) {
    const migration = runTask({ name: 'migrate', installation: { directUrl, queuePrefix } }, stopping);
    // An aborted migration may reject with another error. This throws the abort reason instead.
    await step(`Migrating ${target}`, migration).finally(() => stopping.throwIfAborted());
    if (isEmbedded) await writePrivateFile(files.migrated, digest);
  }

  const { bundles, client } = await step('Making what the processes serve and run', making);
  stopping.throwIfAborted();

  const run = (name: keyof typeof ENTRIES, args: string[], env: NodeJS.ProcessEnv) => {
    const entry = bundles === undefined ? join(CHECKOUT, ENTRIES[name]) : bundleOf(bundles, ENTRIES[name]);
    return opened.use(
      new SupervisedProcess({ name, entry, args, env, log: join(files.logs, `${name}.log`), say }),
    );
  };
  const workers = run('worker', ['all'], worker.env);
  const ingress = run('web', [], web.env);
  const startTools = async (upstream: string) => {
    const toolEnv = await toolServerEnv(env, upstream);
    return { toolEnv, tools: run('mcp', [], toolEnv) };
  };
  const { host, port } = web.config;
  const startedTools = port === 0 ? undefined : await startTools(urlOf(host, port));
  const ready = Promise.all([ingress.ready(), workers.ready()]);
  const [{ url: address = '', operatorUrl = '' }] = await step(
    'Starting the ingress and the workers',
    Promise.race([ready, stopRejection]),
  );
  // Lets a restarted ingress keep its port, even one that was picked freely.
  web.env['PORT'] = portOf(address);
  await writePrivateFile(files.address, `${address}\n`);
  const { toolEnv, tools } = startedTools ?? (await startTools(address));
  const started = await step('Starting the tool server', Promise.race([tools.ready(), stopRejection]));
  const toolAddress = started.url ?? '';
  toolEnv['MCP_PORT'] = portOf(toolAddress);

  const callback = `${web.config.publicUrl ?? `http://localhost:${web.env['PORT']}`}/connect/callback`;
  const board = `${operatorUrl}/admin/`;
  if (web.config.production) say(`\n  address    ${address}\n  board      ${board}\n`);
  else {
    const key =
      (await findSandboxKey(directUrl, files.appKey, callback)) ??
      (await runTask({ name: 'sandboxKey', file: files.appKey, callback, config: web.config }));
    say(guide({ address, board, key, config: worker.config, logs: files.logs }));
  }
  say(toolServerGuide(toolAddress));
  if (client !== undefined) say(clientGuide(address, client));
  say(`Forecue is ready in ${formatSeconds(performance.now())}. Ctrl-C stops it.`);
  // `await` keeps everything open until the stop.
  return await stopRejection;
}

/** Makes what the sources have changed since the last start, one after the other. */
async function make(config: { console: boolean }): Promise<{ bundles?: string; client?: string }> {
  if (!canBuild()) return {};
  if (config.console) await buildChangedConsole();
  const client = await packClient();
  return { bundles: await bundleProcesses(), client };
}

/** The worker's operator port is the ingress's plus one, since both run on this machine. */
function configure(given: NodeJS.ProcessEnv, data: string, databaseUrl: string | undefined) {
  const env = databaseUrl === undefined ? given : withEmbeddedDatabase(given, databaseUrl);
  const webEnv = withSecrets(env, data);
  const web = { env: webEnv, config: ingressConfig(webEnv) };
  const { port } = web.config.operator;
  const workerEnv = { ...env, OPERATOR_PORT: String(port === 0 ? 0 : port + 1) };
  return { web, worker: { env: workerEnv, config: workerConfig(workerEnv) } };
}

/**
 * Throws if a setting is invalid or a port is in use. Outside production, picks free operator ports instead if a
 * default one is in use.
 */
async function withFreePorts(
  data: string,
  isEmbedded: boolean,
  isAfterKill: boolean,
): Promise<NodeJS.ProcessEnv> {
  const { web, worker } = configure(process.env, data, isEmbedded ? ANY_DATABASE : undefined);
  const withinMs = isAfterKill ? ORPHANS_GRACE_MS : 0;
  await assertPortFree({ variable: 'PORT', ...web.config }, withinMs);
  const isChosen = web.config.production || new Env(process.env).has('OPERATOR_PORT');
  for (const { operator } of [web.config, worker.config]) {
    if (!isChosen && !(await isFree(operator))) return { ...process.env, OPERATOR_PORT: '0' };
    await assertPortFree({ variable: 'OPERATOR_PORT', ...operator }, withinMs);
  }
  return process.env;
}

/** Picks any free port where no port is set and the default one is in use. */
async function toolServerEnv(env: NodeJS.ProcessEnv, address: string): Promise<NodeJS.ProcessEnv> {
  const given = new Env(env);
  const { OPERATOR_PORT: operator } = env;
  const values = {
    ...env,
    PORT: portOf(address),
    ...(!given.has('MCP_UPSTREAM_URL') && { MCP_UPSTREAM_URL: address }),
    // `operator` is the ingress's operator port, and the next one is the worker's.
    ...(operator && { OPERATOR_PORT: operator === '0' ? '0' : String(Number(operator) + 2) }),
  };
  const config = mcpConfig(values);
  if (given.has('MCP_PORT')) await assertPortFree({ variable: 'MCP_PORT', ...config }, ORPHANS_GRACE_MS);
  else if (!(await isFree(config))) Object.assign(values, { MCP_PORT: '0' });
  if (!operator && !(await isFree(config.operator))) Object.assign(values, { OPERATOR_PORT: '0' });
  return values;
}

async function throwAlreadyRunning(addressFile: string): Promise<never> {
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
  print(`${what} … `);
  let outcome = 'not done';
  try {
    const result = await work;
    outcome = formatSeconds(performance.now() - startedAt);
    return result;
  } finally {
    say(outcome);
  }
}

function say(line: string): void {
  print(`${line}\n`);
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
    print(`${messageOf(error)}\n`, process.stderr);
    process.exitCode = 1;
  }
}
