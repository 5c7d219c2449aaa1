import { connect, createServer } from 'node:net';
import { databaseUrl } from './database.ts';
import { endTogether, listen } from './listening.ts';

const NOTIFICATION = 'A'.charCodeAt(0);
const HEADER_BYTES = 5;

/**
 * Starts a proxy to the database that drops the notifications of ended work, of cancelled work and of providers, and
 * nothing else: those of admitted work pass (PostgreSQL's frontend/backend protocol, version 3).
 */
export async function dropWakeUps(
  target: string,
): Promise<{ url: string; dropped(): number; close(): Promise<void> }> {
  const { hostname, port, pathname } = new URL(target);
  let dropped = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port) || 5432, hostname);
    endTogether(client, upstream);
    client.pipe(upstream);
    let pending = Buffer.alloc(0);
    upstream.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      for (let message = take(); message !== undefined; message = take()) {
        if (isWakeUp(message)) dropped += 1;
        else client.write(message);
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
    dropped: () => dropped,
    close: proxy.close,
  };
}

/**
 * Reports whether a message is a notification to drop: its type, its length, the sender's process id, then the
 * channel's name, ended by a NUL.
 */
function isWakeUp(message: Buffer): boolean {
  if (message[0] !== NOTIFICATION) return false;
  const start = HEADER_BYTES + 4;
  return /_(ended|cancel|providers)$/.test(message.toString('utf8', start, message.indexOf(0, start)));
}
