import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Database, openDatabase } from '../../shared/db/orm.ts';
import { createApp, type NewApp } from '../../shared/db/stores/apps.ts';
import type { ReadyMessage } from '../../shared/lifecycle.ts';
import { createLog } from '../../shared/log.ts';
import { AppClient } from './client.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { bareEnvironment } from './environment.ts';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { noteAnswers, untilNoted } from './noted-answers.ts';
import { createQueue } from './queue.ts';
import type { TestQueue } from './test-queue.ts';

type Environment = Record<string, string>;

type Kind = 'web' | 'worker';
const WEB_ENTRY = ['ingress/main.ts'];
const WORKER_ENTRY = ['workers/main.ts', 'predict'];

export interface SystemOptions {
  /** Ingress processes; 1. */
  webs?: number;
  /** Worker processes; 1. */
  workers?: number;
  /** What a worker is started as: a file and its arguments; the product's, for predictions. */
  workerEntry?: string[];
  /** Configuration of all of them, on top of what tests need: a fake provider and a lease longer than any pause of a slow machine. */
  env?: Environment;
  /** Drops every wake-up of the product, so that only polling is left. */
  withoutWakeUps?: boolean;
}

/** A real installation of a test file's own: its database, its queue, its processes. */
export interface System {
  database: TestDatabase;
  queue: TestQueue;
  provider: FakeProvider;
  webs: TestProcess[];
  workers: TestProcess[];
  /** The configuration of all its processes. */
  env: Readonly<Environment>;
  startWeb(env?: Environment): Promise<TestProcess>;
  startWorker(env?: Environment): Promise<TestProcess>;
  /** Starts a process of the kind without waiting until it is ready. */
  launch(kind: Kind, env?: Environment): TestProcess;
  /** For what a test does with the product's own stores, behind its processes' backs. */
  em(): EntityManager;
  /** A new app, as a client of the first ingress. */
  app(app?: Partial<NewApp>): Promise<AppClient>;
  stop(): Promise<void>;
}

/** One process of the product. Its last log lines are in the message of whatever goes wrong at its start. */
export class TestProcess {
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

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.child.kill(signal);
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.kill(signal);
    await this.exited;
  }

  #keep(chunk: Buffer): void {
    this.log = (this.log + chunk.toString()).slice(-100_000);
  }
}

/** Starts an installation. To be stopped in `after`. */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const database = await createDatabase();
  const provider = await startFakeProvider();
  const queue = await createQueue(database, { withoutWakeUps: options.withoutWakeUps ?? false });
  const admin = await openDatabase(
    { database: { url: database.serviceUrl, directUrl: database.url, poolSize: 2 } },
    createLog('test', 'silent'),
    'forecue test',
  );
  const env: Environment = {
    PORT: '0',
    OPERATOR_PORT: '0',
    LOG_LEVEL: 'info',
    LEASE_MS: '15000',
    DATABASE_URL: database.serviceUrl,
    DATABASE_DIRECT_URL: database.url,
    ...queue.env,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: provider.url,
    DEFAULT_MODEL: 'fake-model',
    JWT_SECRET: 'a secret of the tests, of 32 bytes or more',
    RATE_LIMIT_RPS: '0',
    SYNC_EVERY: 'off',
    PROMOTE_EVERY: 'off',
    // All callers of a test share an address.
    MAX_CONNECTIONS_PER_ADDRESS: '5000',
    ...options.env,
  };
  const entries: Record<Kind, string[]> = { web: WEB_ENTRY, worker: options.workerEntry ?? WORKER_ENTRY };
  const webs: TestProcess[] = [];
  const workers: TestProcess[] = [];
  const system: System = {
    database,
    queue,
    provider,
    webs,
    workers,
    env,
    launch(kind, more) {
      const launched = launch(entries[kind], { ...env, ...more });
      (kind === 'web' ? webs : workers).push(launched);
      return launched;
    },
    startWeb: (more) => system.launch('web', more).ready(),
    startWorker: (more) => system.launch('worker', more).ready(),
    em: () => admin.orm.em.fork(),
    app: (app) => makeApp(admin, webs, app),
    async stop() {
      await Promise.all(webs.map((web) => untilNoted(web.url, () => web.log)));
      await Promise.all([...webs, ...workers].map((one) => one.stop()));
      await provider.close();
      await admin.close();
      await queue.close();
      await database.drop();
    },
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
  const path = fileURLToPath(new URL(`../../${entry}`, import.meta.url));
  return new TestProcess(fork(path, args, { env: { ...bareEnvironment(), ...env }, silent: true }));
}

async function makeApp(admin: Database, webs: TestProcess[], app: Partial<NewApp> = {}): Promise<AppClient> {
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
