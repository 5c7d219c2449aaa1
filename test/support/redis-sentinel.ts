import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { command, type RedisServer, startRedisServer } from './redis-server.ts';
import { until, untilDone } from './until.ts';

export interface Sentinels extends AsyncDisposable {
  /** Value for `REDIS_URL`. */
  url: string;
  /** Returns the present primary, as the Sentinels name it, and the other server. */
  servers(): Promise<{ primary: RedisServer; other: RedisServer }>;
  /** Promotes the replica and makes the primary its read-only replica, as an operator does. */
  switchOver(): Promise<unknown>;
}

const NAME = 'forecue';

export async function startSentinels(): Promise<Sentinels> {
  const [first, second] = [await startRedisServer(), await startRedisServer()];
  await second.follow(first);
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(new URL(first.url).port)));
  const [one = ''] = sentinels.map(({ url }) => url);
  // The Sentinels can agree only once all of them have found each other and the replica.
  await until(async () => {
    const seen = await Promise.all(sentinels.map(({ url }) => fieldsSeenBy(url)));
    return seen.every((fields) => fields['num-other-sentinels'] === '2' && fields['num-slaves'] === '1');
  });
  return {
    url: `redis+sentinel://${sentinels.map(({ url }) => new URL(url).host).join()}/${NAME}`,
    async servers() {
      const { port } = await fieldsSeenBy(one);
      return new URL(first.url).port === port
        ? { primary: first, other: second }
        : { primary: second, other: first };
    },
    switchOver: () => untilDone(() => command(one, 'SENTINEL', 'FAILOVER', NAME)),
    async [Symbol.asyncDispose]() {
      await Promise.all(sentinels.map((sentinel) => sentinel.close()));
      await Promise.all([first.kill(), second.kill()]);
    },
  };
}

async function startSentinel(primaryPort: string): Promise<{ url: string; close(): Promise<void> }> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'forecue-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 2`,
    `sentinel down-after-milliseconds ${NAME} 1000`,
    `sentinel failover-timeout ${NAME} 3000`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const url = `redis://127.0.0.1:${port}`;
  await untilDone(() => command(url, 'PING'));
  return {
    url,
    async close() {
      const exited = once(child, 'exit');
      end();
      await exited;
      process.off('exit', end);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the fields of the primary, such as its address, as a Sentinel sees them. */
async function fieldsSeenBy(sentinel: string): Promise<Record<string, string>> {
  const fields = (await command(sentinel, 'SENTINEL', 'MASTER', NAME)) as string[] | Record<string, string>;
  if (!Array.isArray(fields)) return fields;
  return Object.fromEntries(fields.flatMap((name, n) => (n % 2 === 0 ? [[name, fields[n + 1] ?? '']] : [])));
}
