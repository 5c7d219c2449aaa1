import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describeWhere } from './describe-where.ts';
import { duringSuite } from './during-suite.ts';
import { freePort } from './free-port.ts';
import { untilDone } from './until.ts';

/** A Redis that a test has started, without persistence: it always restarts empty. */
export interface RedisServer extends AsyncDisposable {
  url: string;
  start(): Promise<void>;
  /** Kills the server (SIGKILL): no connection is closed properly. */
  kill(): Promise<void>;
  flush(): Promise<unknown>;
  /** Makes the server a read-only replica of `primary`, or a primary again. */
  follow(primary: RedisServer | undefined): Promise<unknown>;
  /** Returns the ids and names of the product's connections to the server. */
  clients(): Promise<Map<string, string>>;
  holds(text: string): Promise<boolean>;
  /** Accepts connections and commands from now on, but answers none until the time is over. */
  pause(ms: number): Promise<unknown>;
  serveAllSlots(address: string): Promise<void>;
  fill(full: boolean): Promise<unknown>;
  setPolicy(policy: string): Promise<unknown>;
}

export function describeWithRedis(title: string, suite: (this: Mocha.Suite) => void): void {
  const isThere = spawnSync('redis-server', ['--version']).status === 0;
  describeWhere(isThere, title, 'there is no redis-server here', suite);
}

/** Starts a server on a free port of 127.0.0.1; it ends with this process at the latest. */
export async function startRedisServer({ isCluster = false } = {}): Promise<RedisServer> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  // Makes a replica sync at once instead of 5 s later.
  args.push('--repl-diskless-sync-delay', '0');
  // Avoids loading a file that another server has left in the folder.
  args.push('--dbfilename', `forecue-${port}.rdb`);
  const file = `forecue-nodes-${port}.conf`;
  if (isCluster) {
    args.push('--cluster-enabled', 'yes', '--cluster-config-file', file, '--cluster-node-timeout', '1000');
    args.push('--cluster-port', `${await freePort()}`);
  }
  let child: ChildProcess | undefined;
  const end = () => child?.kill('SIGKILL');
  const server: RedisServer = {
    url,
    async start() {
      if (child !== undefined && child.exitCode === null && child.signalCode === null) return;
      child = spawn('redis-server', args, { cwd: tmpdir(), stdio: 'ignore' });
      // A test that fails to stop the server does not keep the tests from ending.
      child.unref();
      process.once('exit', end);
      await untilDone(() => command(url, 'PING'));
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      const exited = once(child, 'exit');
      end();
      await exited;
      process.off('exit', end);
      if (isCluster) await rm(join(tmpdir(), file), { force: true });
    },
    [Symbol.asyncDispose]: () => server.kill(),
    flush: () => command(url, 'FLUSHALL'),
    follow(primary) {
      const { hostname = 'NO', port = 'ONE' } = primary === undefined ? {} : new URL(primary.url);
      return command(url, 'REPLICAOF', hostname, port);
    },
    // A Redis that becomes a replica may close the connection that asks.
    clients: () => untilDone(() => withConnection(url, clients)),
    holds: (text) => holds(url, text),
    pause: (ms) => command(url, 'CLIENT', 'PAUSE', `${ms}`, 'ALL'),
    async serveAllSlots(address) {
      const { hostname, port: announced } = new URL(address);
      await command(
        url,
        'CONFIG',
        'SET',
        'cluster-announce-ip',
        hostname,
        'cluster-announce-port',
        announced,
      );
      await command(url, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    },
    fill: (full) => command(url, 'CONFIG', 'SET', 'maxmemory', full ? '1' : '0'),
    setPolicy: (policy) => command(url, 'CONFIG', 'SET', 'maxmemory-policy', policy),
  };
  await server.start();
  return server;
}

export function useRedisServer(options?: { isCluster?: boolean }): RedisServer {
  return duringSuite(() => startRedisServer(options));
}

export function command(url: string, name: string, ...args: string[]): Promise<unknown> {
  return withConnection(url, (client) => client.call(name, ...args));
}

async function clients(client: Redis): Promise<Map<string, string>> {
  const list = (await client.call('CLIENT', 'LIST')) as string;
  const found = [...list.matchAll(/^id=(\d+) .* name=(forecue\S*) /gm)];
  return new Map(found.map(([, id = '', name = '']) => [id, name]));
}

function holds(url: string, text: string): Promise<boolean> {
  return withConnection(url, async (client) => {
    const keys = await client.keys('*');
    const contents = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
    return keys.some((key) => key.includes(text)) || contents.some((content) => content?.includes(text));
  });
}

async function withConnection<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  // A connection error rejects the command too.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.disconnect();
  }
}
