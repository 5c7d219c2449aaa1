import { connect, createServer, type Socket } from 'node:net';
import { endTogether, listen } from './listening.ts';

/** A proxy that can go silent, like a balancer that has forgotten its connections: it does not even forward a close. */
export interface SilentProxy extends AsyncDisposable {
  url: string;
  /** Makes existing connections forward nothing; `listening` only those that have sent a LISTEN or a SUBSCRIBE. */
  silence(which?: 'all' | 'listening'): void;
  /** Silences only connections that have been idle for this long; returns their number. */
  silenceIdle(ms: number): number;
  /** Silences all connections, old and new, until `unmute`; those made before then stay silent forever. */
  mute(): void;
  unmute(): void;
  /** Sends later connections to this server instead, as if the name had moved. */
  move(target: string): void;
  close(): Promise<void>;
}

export async function startSilentProxy(target: string): Promise<SilentProxy> {
  let { protocol, hostname, port } = new URL(target);
  const pairs = new Map<readonly [Socket, Socket], number>();
  let isMuted = false;
  const listeners = new WeakSet<readonly [Socket, Socket]>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const pair = [client, upstream] as const;
    pairs.set(pair, performance.now());
    client.on('data', (chunk: Buffer) => {
      pairs.set(pair, performance.now());
      if (/\b(listen|subscribe)\s/i.test(chunk.toString('latin1'))) listeners.add(pair);
    });
    endTogether(...pair);
    client.on('close', () => pairs.delete(pair));
    if (isMuted) silencePair(pair);
    else client.pipe(upstream).pipe(client);
  });
  const proxy = await listen(server);
  return {
    ...proxy,
    url: `${protocol}//127.0.0.1:${proxy.port}`,
    silence(which = 'all') {
      for (const pair of pairs.keys()) if (which === 'all' || listeners.has(pair)) silencePair(pair);
    },
    silenceIdle(ms) {
      const idle = [...pairs].filter(([, spokeAt]) => performance.now() - spokeAt > ms);
      for (const [pair] of idle) silencePair(pair);
      return idle.length;
    },
    mute() {
      isMuted = true;
      for (const pair of pairs.keys()) silencePair(pair);
    },
    unmute() {
      isMuted = false;
    },
    move(to) {
      ({ protocol, hostname, port } = new URL(to));
    },
  };
}

function silencePair([client, upstream]: readonly [Socket, Socket]): void {
  client.unpipe(upstream).resume();
  upstream.unpipe(client).resume();
}
