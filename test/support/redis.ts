import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { parseRedisUrl } from '../../shared/config/values.ts';
import { createLog } from '../../shared/log.ts';
import { connectRedis, type RedisClient } from '../../shared/queue/redis.ts';
import type { TestQueue } from './test-queue.ts';

/**
 * Creates a queue under a key prefix of its own. Without wake-ups, the product logs in as a user that may not publish
 * or subscribe, which works on every kind of Redis.
 */
export async function queueOnRedis(url: string, options: { withoutWakeUps: boolean }): Promise<TestQueue> {
  const target = parseRedisUrl(url);
  if (target === undefined) throw new Error('TEST_REDIS_URL is no Redis URL');
  const prefix = `t${randomBytes(6).toString('hex')}`;
  const client = connectRedis(target, 'consumer', createLog('test', 'silent'));
  const nodes = await nodesOf(client);
  if (options.withoutWakeUps) await onAll(nodes, (node) => addUserWithoutChannels(node, prefix));
  const monitors: Monitor[] = [];
  return {
    env: {
      QUEUE_PREFIX: prefix,
      REDIS_URL: options.withoutWakeUps ? url.replace('://', `://${prefix}:any@`) : url,
    },
    async droppedWakeUps(channel) {
      const logs = await onAll(nodes, (node) => node.call('ACL', 'LOG', '1000') as Promise<unknown[]>);
      return logs.flat().reduce((sum: number, entry) => sum + denialsOf(`${prefix}_${channel}`, entry), 0);
    },
    async holds(text) {
      const dumps = await onAll(nodes, async (node) => {
        const keys = await keysOf(node, prefix);
        const contents = await Promise.all(keys.map((key) => node.dumpBuffer(key)));
        return keys.some((key) => key.includes(text)) || contents.some((content) => content?.includes(text));
      });
      return dumps.includes(true) || monitors.some(({ textSoFar }) => textSoFar().includes(text));
    },
    async listen() {
      monitors.push(...(await onAll(nodes, monitor)));
    },
    async jobs() {
      const lists = ['wait', 'active', 'prioritized'].map((list) => `{${prefix}}:predict:${list}`);
      const counts = await Promise.all(lists.map((list) => lengthOf(client, list)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    async close() {
      await onAll(nodes, async (node) => {
        for (const key of await keysOf(node, prefix)) await node.unlink(key);
        if (options.withoutWakeUps) await node.call('ACL', 'DELUSER', prefix);
      });
      for (const { socket } of monitors) socket.destroy();
      client.disconnect();
    },
  };
}

interface Monitor {
  socket: Socket;
  textSoFar(): string;
}

/** Uses a plain socket: ioredis mistakes lines for answers if they arrive with the answer to MONITOR. */
async function monitor({ options: { host = '127.0.0.1', port = 6379, password } }: Redis): Promise<Monitor> {
  const socket = connect(port, host).setEncoding('utf8');
  let sent = '';
  socket.on('data', (more: string) => {
    sent += more;
  });
  socket.write(password ? `AUTH ${password}\r\nMONITOR\r\n` : 'MONITOR\r\n');
  await once(socket, 'data');
  return { socket, textSoFar: () => sent };
}

/** Counts a channel's refusals in an entry of the ACL log; a repeated refusal raises the entry's count. */
function denialsOf(channel: string, entry: unknown): number {
  if (!Array.isArray(entry) || !entry.includes(channel)) return 0;
  return Number(entry[entry.indexOf('count') + 1]);
}

async function addUserWithoutChannels(node: Redis, user: string): Promise<void> {
  await node.call('ACL', 'SETUSER', user, 'on', 'nopass', '~*', '+@all', 'resetchannels');
}

async function nodesOf(client: RedisClient): Promise<Redis[]> {
  await client.ping();
  return 'nodes' in client ? client.nodes('master') : [client];
}

function onAll<T>(nodes: Redis[], act: (node: Redis) => Promise<T>): Promise<T[]> {
  return Promise.all(nodes.map(act));
}

async function keysOf(node: Redis, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const keys of node.scanStream({ match: `{${prefix}}*`, count: 1000 })) found.push(...keys);
  return found;
}

async function lengthOf(client: RedisClient, key: string): Promise<number> {
  return (await client.type(key)) === 'zset' ? client.zcard(key) : client.llen(key);
}
