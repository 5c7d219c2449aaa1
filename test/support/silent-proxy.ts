import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server which can fall silent, as a balancer that has forgotten its connections. */
export interface SilentProxy {
  url: string;
  /** From now on no connection of this moment carries anything, nor is closed; later ones do as ever. */
  silence(): void;
  close(): Promise<void>;
}

export async function silentProxy(target: string): Promise<SilentProxy> {
  const { protocol, hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    const pair = [client, connect(Number(port), hostname)] as const;
    const [, upstream] = pair;
    pairs.add(pair);
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
    silence() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).resume();
        upstream.unpipe(client).resume();
      }
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
