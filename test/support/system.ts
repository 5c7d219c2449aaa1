import './quick-discovery.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { QueryResultRow } from 'pg';
import { bundleOf } from '../../bin/bundle.ts';
import { CHECKOUT } from '../../bin/digest.ts';
import { type Database, openDatabase } from '../../shared/db/orm.ts';
import { createApp, type NewApp } from '../../shared/db/stores/apps.ts';
import { createLog } from '../../shared/log.ts';
import type { ReadyMessage } from '../../shared/process/lifecycle.ts';
import { AppClient } from './client.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { duringSuite } from './during-suite.ts';
import { bareEnvironment } from './environment.ts';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { type HostedPart, Hosts } from './hosted.ts';
import { noteAnswers, untilNoted } from './noted-answers.ts';
import { createQueue } from './queue.ts';
import type { TestQueue } from './test-queue.ts';

type Environment = Record<string, string>;

type Kind = 'web' | 'worker';
const WEB_ENTRY = ['ingress/main.ts'];
const WORKER_ENTRY = ['workers/main.ts', 'predict'];
/** Settings that each process needs, besides the addresses of the stores and of the provider. */
export const COMMON_ENV = {
  PORT: '0',
  OPERATOR_PORT: '0',
  OPENAI_API_KEY: 'sk-test',
  DEFAULT_MODEL: 'fake-model',
  JWT_SECRET: 'a secret of the tests, of 32 bytes or more',
  ADMIN_TOKEN: 'a token of the tests, of 32 bytes or more',
  RATE_LIMIT_RPS: '0',
};

export interface SystemOptions {
  webs?: number;
  workers?: number;
  /** File and arguments of a worker's process; by default the product's worker for predictions. */
  workerEntry?: string[];
  /** Added to the usual settings of the tests, for all processes. */
  env?: Environment;
  /** Gives each ingress and worker a process of its own, which a test may kill or freeze. */
  apart?: boolean;
  /** Drops the product's wake-ups, so that only jobs and polling are left. */
  withoutWakeUps?: boolean;
}

export interface Part {
  url: string;
  /** Last log lines. */
  log: string;
  ready(): Promise<this>;
  /** Ends the ingress or worker; a `TestProcess` is killed. */
  stop(): Promise<void>;
  freeze(isFrozen: boolean): void;
}

export interface System<P extends Part = Part> extends AsyncDisposable {
  database: TestDatabase;
  queue: TestQueue;
  provider: FakeProvider;
  webs: P[];
  workers: P[];
  env: Readonly<Environment>;
  startWeb(env?: Environment): Promise<P>;
  startWorker(env?: Environment): Promise<P>;
  launch(kind: Kind, env?: Environment): P;
  /** Runs SQL past the product, and returns the rows. */
  sql<Row extends QueryResultRow = QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Returns an entity manager with which a test calls the product's stores directly. */
  em(): EntityManager;
  /** Creates an app, and returns its client, which calls the first ingress. */
  app(app?: Partial<NewApp>): Promise<AppClient>;
  stop(): Promise<void>;
}

/** One process of the product. If its start fails, the error has its last log lines. */
export class TestProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  readonly #announced: Promise<[ReadyMessage]>;
  url = '';
  log = '';

  constructor(child: ChildProcess) {
    this.child = child;
    this.exited = once(child, 'exit');
    this.#announced = once(child, 'message') as Promise<[ReadyMessage]>;
    child.stdout?.on('data', (chunk) => this.#keep(chunk));
    child.stderr?.on('data', (chunk) => this.#keep(chunk));
    noteAnswers(child);
  }

  async ready(): Promise<this> {
    const [message] = await Promise.race([
      this.#announced,
      this.exited.then(() => Promise.reject(new Error(`a process died at its start:\n${this.log}`))),
    ]);
    this.url = message.url ?? '';
    return this;
  }

  freeze(isFrozen: boolean): void {
    this.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.child.kill(signal);
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.kill(signal);
    await this.exited;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #keep(chunk: Buffer): void {
    this.log = (this.log + chunk.toString()).slice(-100_000);
  }
}

interface PartRunner<P extends Part> {
  launch(kind: Kind, entry: string[], env: Environment): P;
  end(parts: readonly P[]): Promise<void>;
}

/** Starts an installation whose ingresses share one process, and whose workers share another. Stop it in `after`. */
export function startSystem(options: SystemOptions = {}): Promise<System<HostedPart>> {
  const hosts = new Hosts(options.apart ?? false);
  return start<HostedPart>(options, {
    launch: (kind, entry, env) => hosts.launch(kind, entry, env),
    end: () => hosts.free(),
  });
}

/** Starts an installation with the product's own processes, which a test may signal or measure. Stop it in `after`. */
export function startProcesses(options: SystemOptions = {}): Promise<System<TestProcess>> {
  return start(options, {
    launch: (_, entry, env) => launch(entry, env),
    end: async (processes) => void (await Promise.all(processes.map((one) => one.stop()))),
  });
}

/** A function is called once everything that the suite started earlier is ready. */
type LaterOptions = SystemOptions | (() => SystemOptions | Promise<SystemOptions>);

/** Starts an installation during a suite, as `startSystem` does. */
export function useSystem(options: LaterOptions = {}): System<HostedPart> {
  return useInstallation(startSystem, options);
}

/** Starts an installation during a suite, as `startProcesses` does. */
export function useProcesses(options: LaterOptions = {}): System<TestProcess> {
  return useInstallation(startProcesses, options);
}

function useInstallation<P extends Part>(
  start: (options: SystemOptions) => Promise<System<P>>,
  options: LaterOptions,
): System<P> {
  const begin = async () => start(typeof options === 'function' ? await options() : options);
  return duringSuite(begin);
}

async function start<P extends Part>(options: SystemOptions, runner: PartRunner<P>): Promise<System<P>> {
  const database = await createDatabase();
  const provider = await startFakeProvider();
  const queue = await createQueue(database, { withoutWakeUps: options.withoutWakeUps ?? false });
  const admin = await openDatabase(
    { database: { url: database.serviceUrl, directUrl: database.url, poolSize: 2 } },
    createLog('test', 'silent'),
    'forecue test',
  );
  const env: Environment = {
    ...COMMON_ENV,
    LOG_LEVEL: 'info',
    LEASE_MS: '15000',
    DATABASE_URL: database.serviceUrl,
    DATABASE_DIRECT_URL: database.url,
    ...queue.env,
    OPENAI_BASE_URL: provider.url,
    SYNC_EVERY: 'off',
    PROMOTE_EVERY: 'off',
    // All callers of a test share an address.
    MAX_CONNECTIONS_PER_ADDRESS: '5000',
    ...options.env,
  };
  const entries: Record<Kind, string[]> = { web: WEB_ENTRY, worker: options.workerEntry ?? WORKER_ENTRY };
  const webs: P[] = [];
  const workers: P[] = [];
  const system: System<P> = {
    database,
    queue,
    provider,
    webs,
    workers,
    env,
    launch(kind, more) {
      const part = runner.launch(kind, entries[kind], { ...env, ...more });
      (kind === 'web' ? webs : workers).push(part);
      return part;
    },
    startWeb: (more) => system.launch('web', more).ready(),
    startWorker: (more) => system.launch('worker', more).ready(),
    sql: async (text, values) => (await database.pool.query(text, values)).rows,
    em: () => admin.orm.em.fork(),
    app: (app) => makeApp(admin, webs, app),
    async stop() {
      // Ends each part even if another fails to end: what is left would keep the run alive.
      await using ending = new AsyncDisposableStack();
      ending.defer(() => database.drop());
      ending.defer(() => queue.close());
      ending.defer(() => admin.close());
      ending.defer(() => runner.end([...webs, ...workers]));
      ending.defer(() => provider.close());
      await Promise.all(webs.map((web) => untilNoted(web.url, () => web.log)));
    },
    [Symbol.asyncDispose]: () => system.stop(),
  };
  try {
    await Promise.all([
      ...Array.from({ length: options.webs ?? 1 }, () => system.startWeb()),
      ...Array.from({ length: options.workers ?? 1 }, () => system.startWorker()),
    ]);
    return system;
  } catch (error) {
    await system.stop();
    throw error;
  }
}

function launch([entry = '', ...args]: string[], env: Environment): TestProcess {
  return new TestProcess(fork(pathOf(entry), args, { env: { ...bareEnvironment(), ...env }, silent: true }));
}

/** Returns the file that runs a process of the product: its bundle, as under `npm start`, if there is one. */
export function pathOf(entry: string): string {
  const { FORECUE_TEST_BUNDLES: bundles } = process.env;
  const bundle = bundles ? bundleOf(bundles, entry) : '';
  return existsSync(bundle) ? bundle : join(CHECKOUT, entry);
}

async function makeApp(
  admin: Database,
  webs: readonly Part[],
  app: Partial<NewApp> = {},
): Promise<AppClient> {
  const { appId, key } = await createApp(admin.orm.em.fork(), {
    name: 'test',
    redirectUris: [],
    plan: 'sandbox',
    capCents: null,
    ...app,
  });
  const [first] = webs;
  return new AppClient(appId, key, first?.url ?? '');
}
