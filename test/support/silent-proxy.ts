import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy that can go silent, like a balancer that has forgotten its connections: it forwards not even a close. */
export interface SilentProxy {
  url: string;
  /**
   * From now on no present connection forwards anything, nor is closed; later ones work. Listening connections are
   * those with a LISTEN or a SUBSCRIBE.
   */
  silence(which?: 'all' | 'listening'): void;
  /** The same, only for connections idle for this long; returns how many these are. */
  silenceIdle(ms: number): number;
  /** No connection carries anything, whenever it was made, until `unmute`; those of that time never will. */
  mute(): void;
  unmute(): void;
  /** Later connections go to this server instead, as those to a name that has moved. */
  move(target: string): void;
  close(): Promise<void>;
}

export async function silentProxy(target: string): Promise<SilentProxy> {
  let { protocol, hostname, port } = new URL(target);
  /** With the time at which the client last sent something. */
  const pairs = new Map<readonly [Socket, Socket], number>();
  let muted = false;
  const listening = new WeakSet<readonly [Socket, Socket]>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const pair = [client, upstream] as const;
    pairs.set(pair, performance.now());
    client.on('data', (chunk: Buffer) => {
      pairs.set(pair, performance.now());
      if (/\b(listen|subscribe)\s/i.test(chunk.toString('latin1'))) listening.add(pair);
    });
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
    if (muted) silencePair(pair);
    else client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence(which = 'all') {
      for (const pair of pairs.keys()) if (which === 'all' || listening.has(pair)) silencePair(pair);
    },
    silenceIdle(ms) {
      const idle = [...pairs].filter(([, spokeAt]) => performance.now() - spokeAt > ms);
      for (const [pair] of idle) silencePair(pair);
      return idle.length;
    },
    mute() {
      muted = true;
      for (const pair of pairs.keys()) silencePair(pair);
    },
    unmute() {
      muted = false;
    },
    move(to) {
      ({ protocol, hostname, port } = new URL(to));
    },
    async close() {
      for (const pair of pairs.keys()) for (const socket of pair) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function silencePair([client, upstream]: readonly [Socket, Socket]): void {
  client.unpipe(upstream).resume();
  upstream.unpipe(client).resume();
}
