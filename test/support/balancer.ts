import { connect, createServer } from 'node:net';
import { listen } from './listening.ts';

/** A TCP load balancer: spreads connections over the ingresses in turn. */
export interface Balancer extends AsyncDisposable {
  url: string;
  add(url: string): void;
  remove(url: string): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  let upstreams: string[] = [];
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    turn += 1;
    const { port, hostname: host } = new URL(upstreams[turn % upstreams.length] ?? '');
    const upstream = connect({ port: Number(port), host, allowHalfOpen: true });
    client.pipe(upstream).pipe(client);
    client.on('error', () => {}).once('close', () => upstream.destroy());
    upstream.on('error', () => client.resetAndDestroy());
  });
  return {
    ...(await listen(server)),
    add: (url) => void upstreams.push(url),
    remove(url) {
      upstreams = upstreams.filter((one) => one !== url);
    },
  };
}
