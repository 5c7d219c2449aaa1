import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../shared/config/env.ts';

export interface Port {
  variable: string;
  host: string;
  port: number;
}

/** Throws a `ConfigError` if the port stays in use for `withinMs`, or at once if listening fails otherwise. */
export async function assertPortFree({ variable, host, port }: Port, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const code = await listenErrorOf(host, port);
    if (code === undefined) return;
    if (code !== 'EADDRINUSE')
      throw new ConfigError([`cannot listen on ${host}:${port} (${code}): set ${variable} or its host`]);
    if (Date.now() >= deadline)
      throw new ConfigError([
        `port ${port} is in use: set ${variable} to another one (0 takes any free one)`,
      ]);
    await sleep(100);
  }
}

export function portOf(address: string): string {
  return new URL(address).port || '80';
}

export async function isFree({ host, port }: Omit<Port, 'variable'>): Promise<boolean> {
  return (await listenErrorOf(host, port)) === undefined;
}

async function listenErrorOf(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    server.close();
  }
}
