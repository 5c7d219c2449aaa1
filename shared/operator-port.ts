import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the operator's port reports about a process. */
export interface Health {
  /** False when the process is up but has not been able to do its work for 10 s. */
  healthy(): boolean;
  /** Database and queue answer, and the process is not shutting down. Rejecting means no. */
  ready(): Promise<boolean>;
}

/**
 * `GET /healthz` and `GET /readyz` on the operator's port, which every kind of process has. Uses Node's own HTTP
 * server, because workers must not depend on Koa.
 */
export async function openOperatorPort(
  address: { host: string; port: number },
  health: Health,
): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const answer = await answerTo(request.url ?? '', health);
    response.writeHead(answer.status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify({ status: answer.text }));
  });
  await listening(server, address);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${address.host}:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answerTo(url: string, health: Health): Promise<{ status: number; text: string }> {
  const path = url.split('?')[0];
  if (path === '/healthz') return health.healthy() ? ok('ok') : failing('stuck');
  if (path === '/readyz')
    return (await health.ready().catch(() => false)) ? ok('ready') : failing('not ready');
  return { status: 404, text: 'not found' };
}

const ok = (text: string) => ({ status: 200, text });
const failing = (text: string) => ({ status: 503, text });

function listening(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
