import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Spreads connections over the known ingresses in turn, as a TCP balancer does; if an ingress breaks a connection, the
 * client's breaks too.
 */
export interface Balancer {
  url: string;
  add(url: string): void;
  /** Gives the ingress no new connections; existing ones go on. */
  remove(url: string): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  let upstreams: string[] = [];
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    turn += 1;
    const { port, hostname: host } = new URL(upstreams[turn % upstreams.length] ?? '');
    const upstream = connect({ port: Number(port), host, allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
    client.on('error', () => {}).once('close', () => upstream.destroy());
    upstream.on('error', () => client.resetAndDestroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void upstreams.push(url),
    remove(url) {
      upstreams = upstreams.filter((one) => one !== url);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
