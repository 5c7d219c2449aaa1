import { connect, createServer } from 'node:net';
import type { Channel } from '../../shared/work/wake-ups.ts';
import { databaseUrl } from './database.ts';
import { endTogether, listen } from './listening.ts';

const NOTIFICATION = 'A'.charCodeAt(0);
const HEADER_BYTES = 5;

/** A proxy to the database that drops wake-ups and messages about providers (frontend/backend protocol, version 3). */
export async function dropWakeUps(
  target: string,
): Promise<{ url: string; dropped(channel: Channel): number; close(): Promise<void> }> {
  const { hostname, port, pathname } = new URL(target);
  const dropped: string[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port) || 5432, hostname);
    endTogether(client, upstream);
    client.pipe(upstream);
    let pending = Buffer.alloc(0);
    upstream.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      for (let message = take(); message !== undefined; message = take()) {
        const wakeUp = wakeUpIn(message);
        if (wakeUp === undefined) client.write(message);
        else dropped.push(wakeUp);
      }
    });

    function take(): Buffer | undefined {
      if (pending.length < HEADER_BYTES) return undefined;
      const length = 1 + pending.readUInt32BE(1);
      if (pending.length < length) return undefined;
      const message = pending.subarray(0, length);
      pending = pending.subarray(length);
      return message;
    }
  });
  const proxy = await listen(server);
  const address = new URL(databaseUrl(target, pathname.slice(1)));
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  return {
    url: address.href,
    dropped: (channel) => dropped.filter((one) => one === channel).length,
    close: proxy.close,
  };
}

/** A notification is its type, its length, the sender's process id, then the channel's name, ended by a NUL. */
function wakeUpIn(message: Buffer): string | undefined {
  if (message[0] !== NOTIFICATION) return undefined;
  const start = HEADER_BYTES + 4;
  const name = message.toString('utf8', start, message.indexOf(0, start));
  return /_(ended|cancel|providers)$/.exec(name)?.[1];
}
