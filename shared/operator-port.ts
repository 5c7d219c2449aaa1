import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the operator's port tells of a process. Each check rejects, or answers false, when it does not hold. */
export interface Health {
  /** Up, and still taking work when there is some. */
  healthy(): boolean;
  /** Database and queue answer, and the process is not shutting down. */
  ready(): Promise<boolean>;
}

/**
 * `GET /healthz` and `GET /readyz` on the operator's own port, which every kind of process has. Plain HTTP of the
 * platform on purpose: a worker knows nothing else of HTTP.
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
