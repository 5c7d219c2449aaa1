import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { Redis } from 'ioredis';
import { describeWhere } from './describe-where.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** A Redis of a test's own, which keeps nothing on any disk: whatever ends it, it comes back empty. */
export interface RedisServer {
  url: string;
  /** Starts it, unless it is up; resolves when it answers. */
  start(): Promise<void>;
  /** By SIGKILL: no connection is told. */
  kill(): Promise<void>;
  flush(): Promise<void>;
  /** From now on it takes connections and commands, and answers none before the time is over. */
  pause(ms: number): Promise<void>;
}

/** A suite that starts a Redis of its own. */
export function describeWithRedis(title: string, suite: (this: Mocha.Suite) => void): void {
  const isThere = spawnSync('redis-server', ['--version']).status === 0;
  describeWhere(isThere, title, 'there is no redis-server here', suite);
}

/** Starts a server on a free port of 127.0.0.1; it ends with this process at the latest. */
export async function startRedisServer(): Promise<RedisServer> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  let child: ChildProcess | undefined;
  process.once('exit', () => child?.kill('SIGKILL'));
  const server: RedisServer = {
    url,
    async start() {
      if (child !== undefined && child.exitCode === null && child.signalCode === null) return;
      child = spawn('redis-server', args, { cwd: tmpdir(), stdio: 'ignore' });
      await until(() =>
        command(url, 'PING').then(
          () => true,
          () => false,
        ),
      );
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    flush: () => command(url, 'FLUSHALL'),
    pause: (ms) => command(url, 'CLIENT', 'PAUSE', `${ms}`, 'ALL'),
  };
  await server.start();
  return server;
}

/** One command on a connection of its own, which does not come back. */
async function command(url: string, name: string, ...args: string[]): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  // What breaks the connection rejects the command too.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}
