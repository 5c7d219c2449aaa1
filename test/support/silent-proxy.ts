import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server which can fall silent, as a balancer that has forgotten its connections: not even an end passes. */
export interface SilentProxy {
  url: string;
  /**
   * From now on no connection of this moment carries anything, nor is closed; later ones do as ever. Those that listen
   * are the ones on which PostgreSQL was asked to LISTEN.
   */
  silence(which?: 'all' | 'listening'): void;
  /** The same for those alone over which the client has said nothing for so long; returns how many these are. */
  silenceIdle(ms: number): number;
  close(): Promise<void>;
}

export async function silentProxy(target: string): Promise<SilentProxy> {
  const { protocol, hostname, port } = new URL(target);
  /** With the moment at which the client last said something. */
  const pairs = new Map<readonly [Socket, Socket], number>();
  const listening = new WeakSet<readonly [Socket, Socket]>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const pair = [client, upstream] as const;
    pairs.set(pair, performance.now());
    client.on('data', (chunk: Buffer) => {
      pairs.set(pair, performance.now());
      if (/\blisten\s/i.test(chunk.toString('latin1'))) listening.add(pair);
    });
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
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
