import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describeWhere } from './describe-where.ts';
import { freePort } from './free-port.ts';
import { untilDone } from './until.ts';

/** A Redis of a test's own, without persistence: however it ends, it restarts empty. */
export interface RedisServer {
  url: string;
  /** Starts it, unless it is up; resolves when it answers. */
  start(): Promise<void>;
  /** By SIGKILL: no connection is closed properly. */
  kill(): Promise<void>;
  flush(): Promise<unknown>;
  /** From now on it is a read-only replica of the other, or a primary again. */
  follow(primary: RedisServer | undefined): Promise<unknown>;
  /** The ids and names of the product's connections to it. */
  clients(): Promise<Map<string, string>>;
  /** Whether the text is in the name or in the content of any key. */
  holds(text: string): Promise<boolean>;
  /** From now on it accepts connections and commands, and answers none until the time is over. */
  pause(ms: number): Promise<unknown>;
  /** As the whole of a cluster: has all slots, at this address. */
  serveAllSlots(address: string): Promise<void>;
  /** From now on it has no memory for writes, or has some again. */
  fill(full: boolean): Promise<unknown>;
  /** Sets its `maxmemory-policy`. */
  setPolicy(policy: string): Promise<unknown>;
}

/** A suite that starts a Redis of its own. */
export function describeWithRedis(title: string, suite: (this: Mocha.Suite) => void): void {
  const isThere = spawnSync('redis-server', ['--version']).status === 0;
  describeWhere(isThere, title, 'there is no redis-server here', suite);
}

/** Starts a server on a free port of 127.0.0.1; it ends with this process at the latest. */
export async function startRedisServer({ isCluster = false } = {}): Promise<RedisServer> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  // A replica is in sync at once, not 5 s later.
  args.push('--repl-diskless-sync-delay', '0');
  // A file that another server left in the folder would be loaded.
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
      // A test that fails to stop it does not keep the tests from ending.
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
    flush: () => command(url, 'FLUSHALL'),
    follow(primary) {
      const { hostname = 'NO', port = 'ONE' } = primary === undefined ? {} : new URL(primary.url);
      return command(url, 'REPLICAOF', hostname, port);
    },
    clients: () => connected(url, clients),
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

/** Sends a command on a connection of its own. */
export function command(url: string, name: string, ...args: string[]): Promise<unknown> {
  return connected(url, (client) => client.call(name, ...args));
}

async function clients(client: Redis): Promise<Map<string, string>> {
  const list = (await client.call('CLIENT', 'LIST')) as string;
  const found = [...list.matchAll(/^id=(\d+) .* name=(forecue\S*) /gm)];
  return new Map(found.map(([, id = '', name = '']) => [id, name]));
}

function holds(url: string, text: string): Promise<boolean> {
  return connected(url, async (client) => {
    const keys = await client.keys('*');
    const contents = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
    return keys.some((key) => key.includes(text)) || contents.some((content) => content?.includes(text));
  });
}

/** On a connection of its own, without reconnecting. */
async function connected<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  // An error of the connection rejects the command too.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.disconnect();
  }
}
