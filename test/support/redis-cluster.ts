import { command, type RedisServer, startRedisServer } from './redis-server.ts';
import { until } from './until.ts';

export interface RedisCluster {
  /** Value for `REDIS_URL`. */
  url: string;
  nodes: readonly RedisServer[];
  primaryOf(key: string): Promise<RedisServer>;
  close(): Promise<void>;
}

const SLOTS = 16384;
const PRIMARIES = 3;

export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: 2 * PRIMARIES }, () => startRedisServer({ isCluster: true })),
  );
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error('no node');
  const from = (n: number) => Math.floor((n * SLOTS) / PRIMARIES);
  const primaries = nodes.slice(0, PRIMARIES);
  for (const [n, { url }] of primaries.entries())
    await command(url, 'CLUSTER', 'ADDSLOTSRANGE', `${from(n)}`, `${from(n + 1) - 1}`);
  const ids = await Promise.all(primaries.map(({ url }) => command(url, 'CLUSTER', 'MYID')));
  for (const { url } of others) {
    const port = await busPortOf(url);
    await command(first.url, 'CLUSTER', 'MEET', '127.0.0.1', new URL(url).port, port);
  }
  const linesOf = async ({ url }: RedisServer) =>
    String(await command(url, 'CLUSTER', 'NODES'))
      .trim()
      .split('\n');
  await until(async () =>
    (await Promise.all(nodes.map(linesOf))).every((lines) => lines.length === nodes.length),
  );
  for (const [n, { url }] of nodes.slice(PRIMARIES).entries())
    await command(url, 'CLUSTER', 'REPLICATE', String(ids[n]));
  await until(async () => {
    const states = await Promise.all(nodes.map(({ url }) => command(url, 'CLUSTER', 'INFO')));
    const replicas = (await linesOf(first)).filter((line) => line.includes('slave'));
    return (
      states.every((state) => String(state).includes('cluster_state:ok')) && replicas.length === PRIMARIES
    );
  });
  // A replica that has never been in sync does not stand for election.
  await until(async () => {
    const links = await Promise.all(
      nodes.slice(PRIMARIES).map(({ url }) => command(url, 'INFO', 'replication')),
    );
    return links.every((link) => String(link).includes('master_link_status:up'));
  });
  return {
    url: `redis+cluster://${nodes.map(({ url }) => new URL(url).host).join()}`,
    nodes,
    async primaryOf(key) {
      const slot = Number(await command(first.url, 'CLUSTER', 'KEYSLOT', key));
      for (const node of nodes) {
        const own =
          (await linesOf(node).catch(() => [])).find((line) => line.includes('myself,master')) ?? '';
        const ranges = own.matchAll(/ (\d+)-(\d+)/g);
        for (const [, low, high] of ranges) if (slot >= Number(low) && slot <= Number(high)) return node;
      }
      throw new Error(`no node serves slot ${slot}`);
    },
    async close() {
      await Promise.all(nodes.map((node) => node.kill()));
    },
  };
}

/** Returns the port of the cluster's own protocol. */
async function busPortOf(url: string): Promise<string> {
  const [line = ''] = String(await command(url, 'CLUSTER', 'NODES')).split('\n');
  return line.match(/@(\d+)/)?.[1] ?? '';
}
