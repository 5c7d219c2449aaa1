import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { duringSuite } from './during-suite.ts';

export interface ListeningServer extends AsyncDisposable {
  port: number;
  /** Address of the server, if it speaks HTTP. */
  url: string;
  close(): Promise<void>;
}

export async function listen(server: Server): Promise<ListeningServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port, url: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close };
}

export function useServer(server: Server): ListeningServer {
  return duringSuite(() => listen(server));
}

/** Ends all of these connections as soon as one of them ends, for whatever reason. */
export function endTogether(...sockets: Socket[]): void {
  for (const socket of sockets)
    socket.on('error', () => {}).on('close', () => sockets.forEach((one) => void one.destroy()));
}
