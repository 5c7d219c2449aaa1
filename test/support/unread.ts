import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UserClient } from './account.ts';

export async function openSocket(url: string, localAddress?: string): Promise<Socket> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), ...(localAddress && { localAddress }) });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

function getRequestText({ access }: UserClient, path: string, connection = 'keep-alive'): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: x',
    `Connection: ${connection}`,
    `Authorization: Bearer ${access}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

export async function askUnread(person: UserClient, path: string, at = person.url): Promise<Socket> {
  const socket = await openSocket(at);
  socket.write(getRequestText(person, path, 'close'));
  return socket;
}

/** Reads at most `bytes` bytes every 100 ms until the connection ends; resolves with the total. */
export async function sip(socket: Socket, bytes: number): Promise<number> {
  let total = 0;
  let ended = false;
  socket.once('close', () => {
    ended = true;
  });
  while (!ended && !socket.readableEnded) {
    const chunk: Buffer | null = socket.read(Math.min(bytes, socket.readableLength || bytes));
    total += chunk?.length ?? 0;
    await sleep(100);
  }
  return total;
}
