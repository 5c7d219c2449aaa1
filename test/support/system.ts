import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Database, openDatabase } from '../../shared/db/orm.ts';
import { createApp, type NewApp } from '../../shared/db/stores/apps.ts';
import { createLog } from '../../shared/log.ts';
import type { ReadyMessage } from '../../shared/process/lifecycle.ts';
import { AppClient } from './client.ts';
import { createDatabase, type TestDatabase } from './database.ts';
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

export interface SystemOptions {
  /** Ingresses; 1. */
  webs?: number;
  /** Workers; 1. */
  workers?: number;
  /** The process that a worker is: a file and its arguments; the product's, for predictions. */
  workerEntry?: string[];
  /** Configuration of all of them, on top of what tests need: a fake provider and a lease longer than any pause of a slow machine. */
  env?: Environment;
  /** Hosts each ingress and worker in a process of its own, which a test may kill or freeze. */
  apart?: boolean;
  /** Drops every wake-up of the product, so that only polling is left. */
  withoutWakeUps?: boolean;
}

/** What tests know of each ingress and worker. */
export interface Part {
  url: string;
  /** Its last log lines. */
  log: string;
  ready(): Promise<this>;
  /** Ends it; a process is killed. */
  stop(): Promise<void>;
  /** Stops it from running, or lets it go on. */
  freeze(isFrozen: boolean): void;
}

/** A real installation of a test file's own: its database, its queue, its ingresses and workers. */
export interface System<P extends Part = Part> {
  database: TestDatabase;
  queue: TestQueue;
  provider: FakeProvider;
  webs: P[];
  workers: P[];
  /** The configuration of all its ingresses and workers. */
  env: Readonly<Environment>;
  startWeb(env?: Environment): Promise<P>;
  startWorker(env?: Environment): Promise<P>;
  /** Starts one of the kind without waiting until it is ready. */
  launch(kind: Kind, env?: Environment): P;
  /** For what a test does with the product's own stores, behind its back. */
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

  #keep(chunk: Buffer): void {
    this.log = (this.log + chunk.toString()).slice(-100_000);
  }
}

/** How the parts of an installation run. */
interface Running<P extends Part> {
  launch(kind: Kind, entry: string[], env: Environment): P;
  /** Ends all. */
  end(parts: readonly P[]): Promise<void>;
}

/** Starts an installation whose ingresses share a process, and its workers another. To be stopped in `after`. */
export function startSystem(options: SystemOptions = {}): Promise<System<HostedPart>> {
  const hosts = new Hosts(options.apart ?? false);
  return start<HostedPart>(options, {
    launch: (kind, entry, env) => hosts.launch(kind, entry, env),
    end: () => hosts.free(),
  });
}

/** Starts an installation of the product's own processes, for tests that send one a signal or measure it. To be stopped in `after`. */
export function startProcesses(options: SystemOptions = {}): Promise<System<TestProcess>> {
  return start(options, {
    launch: (_, entry, env) => launch(entry, env),
    end: async (processes) => void (await Promise.all(processes.map((one) => one.stop()))),
  });
}

async function start<P extends Part>(options: SystemOptions, running: Running<P>): Promise<System<P>> {
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
    ADMIN_TOKEN: 'a token of the tests, of 32 bytes or more',
    RATE_LIMIT_RPS: '0',
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
      const launched = running.launch(kind, entries[kind], { ...env, ...more });
      (kind === 'web' ? webs : workers).push(launched);
      return launched;
    },
    startWeb: (more) => system.launch('web', more).ready(),
    startWorker: (more) => system.launch('worker', more).ready(),
    em: () => admin.orm.em.fork(),
    app: (app) => makeApp(admin, webs, app),
    async stop() {
      await Promise.all(webs.map((web) => untilNoted(web.url, () => web.log)));
      await provider.close();
      await running.end([...webs, ...workers]);
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
