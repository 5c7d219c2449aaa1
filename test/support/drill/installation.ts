import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type AppClient, predictionBody } from '../client.ts';
import { freePort } from '../free-port.ts';
import { type OwnServer, startOwnServer } from '../own-server.ts';
import { callUntil } from '../paced-until.ts';
import { type Prometheus, startPrometheus } from '../prometheus.ts';
import { type RedisServer, startRedisServer } from '../redis-server.ts';
import { type System, startProcesses, type TestProcess } from '../system.ts';
import { thisVersion, type Version } from '../version.ts';

const NAMES = ['web-1', 'web-2', 'worker-1', 'worker-2'] as const;
export type ProcessName = (typeof NAMES)[number];

const CALLS_PER_SECOND = 5;
const SETTINGS = {
  SANDBOX_UNITS: '1000000',
  DATABASE_POOL: '4',
  LEASE_MS: '3000',
  PREDICTION_TIMEOUT_MS: '3000',
  PROVIDER_TIMEOUT_MS: '2000',
  RATE_LIMIT_RPS: '20',
  RATE_LIMIT_BURST: '40',
};
const DISK = '2500m';

const run = promisify(execFile);

/** An installation that the drill breaks and its operator mends, under usual calls and watched by a Prometheus. */
export interface Installation {
  system: System<TestProcess>;
  server: OwnServer;
  redis: RedisServer;
  prometheus: Prometheus;
  /** Folder of a small disk, where PostgreSQL keeps its data. */
  disk: string;
  app: AppClient;
  process(name: ProcessName): TestProcess;
  /** Ends the process, and starts it with the installation's present environment and `env`. */
  restart(name: ProcessName, env?: Record<string, string>, options?: { untilReady?: boolean }): Promise<void>;
  /** Ends the process, and starts it as one of another release, without waiting until it is ready. */
  upgrade(name: ProcessName, release: Version): Promise<void>;
  /** The latest release. */
  release(): Version;
  close(): Promise<void>;
}

/** Needs root, to mount the disk. */
export async function startInstallation(): Promise<Installation> {
  await using opening = new AsyncDisposableStack();
  const disk = await mountDisk(opening);
  const server = opening.adopt(await startOwnServer({ folder: join(disk, 'postgres') }), (one) =>
    one.close(),
  );
  const redis = opening.adopt(await startRedisServer(), (one) => one.kill());
  const env = { ...SETTINGS, REDIS_URL: redis.url };
  const system = opening.adopt(
    await startProcesses({ webs: 0, workers: 0, workerEntry: ['workers/main.ts', 'all'], env }),
    (one) => one.stop(),
  );
  const ports = new Map<ProcessName, number>();
  for (const name of NAMES) ports.set(name, await freePort());
  const publicPort = await freePort();
  const own = (name: ProcessName) => ({
    OPERATOR_PORT: `${ports.get(name)}`,
    ...(name === 'web-1' && { PORT: `${publicPort}` }),
  });
  const launch = (name: ProcessName, more: Record<string, string> = {}) =>
    system.launch(name.startsWith('web') ? 'web' : 'worker', { ...own(name), ...more });
  const processes = new Map(NAMES.map((name) => [name, launch(name)]));
  const process = (name: ProcessName) => processes.get(name) as TestProcess;
  await Promise.all([...processes.values()].map((one) => one.ready()));
  const prometheus = opening.adopt(await startPrometheus(ports), (one) => one.close());
  const app = await system.app();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const calls = callUntil(CALLS_PER_SECOND, () => app.predict(predictionBody()).catch(() => undefined), over);
  opening.defer(async () => {
    end();
    await calls;
  });
  let release = thisVersion();
  const opened = opening.move();
  return {
    system,
    server,
    redis,
    prometheus,
    disk,
    app,
    process,
    async restart(name, more, { untilReady = true } = {}) {
      const before = process(name);
      // A process that hangs reacts to SIGKILL only.
      await before.stop(name.startsWith('web') ? 'SIGTERM' : 'SIGKILL');
      processes.set(name, launch(name, more));
      if (untilReady) await process(name).ready();
    },
    async upgrade(name, next) {
      await process(name).stop('SIGTERM');
      release = opened.adopt(next, (one) => one.remove());
      const kind = name.startsWith('web') ? 'web' : 'worker';
      processes.set(name, opened.use(release.launch(kind, { ...system.env, ...own(name) })));
    },
    release: () => release,
    close: () => opened.disposeAsync(),
  };
}

async function mountDisk(opening: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forecue-disk-'));
  opening.defer(() => rmdir(folder));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder]);
  opening.defer(async () => void (await run('umount', ['-l', folder])));
  await chmod(folder, 0o755);
  return folder;
}
