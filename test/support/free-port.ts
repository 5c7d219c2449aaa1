import { once } from 'node:events';
import { createServer } from 'node:net';

/** Range below the ports of outgoing connections, which could take a port before the server listens. */
const LOWEST_PORT = 10_000;
const HIGHEST_PORT = 32_000;
const givenPorts = new Set<number>();

/** Returns a port of 127.0.0.1 that is free at this moment; no other call in this process gets it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT));
    if (givenPorts.has(port)) continue;
    givenPorts.add(port);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
