import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { watchHealth } from '../metrics/process.ts';
import { METRICS_TYPE, observeProcess, scrape } from '../metrics/registry.ts';
import { hasRequestPending } from './pending-request.ts';
import { urlOf } from './url.ts';

export interface Health {
  /** False when the process is up but has not been able to do its work for 10 s. */
  isHealthy(): boolean;
  /** True when the database and the queue answer and the process is not shutting down. A rejection means false. */
  isReady(): Promise<boolean>;
}

interface Answer {
  status: number;
  type?: string;
  text: string;
}

/** Returns undefined if there is no such pool. */
type DesiredWorkers = (pool: string) => Promise<number | undefined>;

const LIMITS = { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000 };
const CONNECTIONS_MAX = 500;

/**
 * Serves `GET /healthz`, `/readyz`, `/metrics` and `/scale/{pool}`; `board` serves the paths below `/admin`. Uses
 * Node's HTTP server, because workers must not depend on Koa.
 */
export async function openOperatorPort(
  address: { host: string; port: number },
  health: Health,
  desiredWorkers: DesiredWorkers = async () => undefined,
  board?: RequestListener,
): Promise<{ url: string; close(): void }> {
  observeProcess();
  const healthWatch = watchHealth(health);
  const isLocal = /^(localhost|127\..*|::1)$/.test(address.host);
  const server = createServer(LIMITS, async (request, response) => {
    if (board !== undefined && /^\/admin(?=[/?]|$)/.test(request.url ?? '')) return board(request, response);
    const {
      status,
      type = 'application/json',
      text,
    } = isLocal && !isSafeHost(request.headers.host)
      ? statusAnswer(421, 'misdirected')
      : await answerTo(request.url ?? '', health, desiredWorkers);
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(text);
  });
  server.on('clientError', async (error: Error & { code?: string }, socket) => {
    const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (isLate && (await hasRequestPending(socket))) return;
    const status = isLate ? '408 Request Timeout' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, address);
  const { port } = server.address() as AddressInfo;
  return {
    url: urlOf(address.host, port),
    close() {
      healthWatch.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * A page in a browser on this machine could make a name of its own lead here (DNS rebinding), but neither an address
 * nor `localhost`. The board has a cookie, which such a page lacks, and may be behind a proxy.
 */
function isSafeHost(host = ''): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isIP(name) !== 0;
}

async function answerTo(url: string, health: Health, desiredWorkers: DesiredWorkers): Promise<Answer> {
  const [path = ''] = url.split('?', 1);
  if (path === '/healthz') return health.isHealthy() ? statusAnswer(200, 'ok') : statusAnswer(503, 'stuck');
  if (path === '/readyz')
    return (await health.isReady().catch(() => false))
      ? statusAnswer(200, 'ready')
      : statusAnswer(503, 'not ready');
  if (path === '/metrics') return { status: 200, type: METRICS_TYPE, text: await scrape() };
  const [, pool] = /^\/scale\/(\w+)$/.exec(path) ?? [];
  return pool === undefined ? statusAnswer(404, 'not found') : scaleAnswer(pool, desiredWorkers);
}

/** Answers in the format that KEDA's scaler `metrics-api` reads with `valueLocation: desired`, `targetValue: "1"`. */
async function scaleAnswer(pool: string, desiredWorkers: DesiredWorkers): Promise<Answer> {
  try {
    const workers = await desiredWorkers(pool);
    if (workers === undefined) return statusAnswer(404, 'no such pool');
    return { status: 200, text: JSON.stringify({ pool, desired: workers }) };
  } catch {
    return statusAnswer(503, 'the database does not answer');
  }
}

const statusAnswer = (status: number, text: string): Answer => ({
  status,
  text: JSON.stringify({ status: text }),
});

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
