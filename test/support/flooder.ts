import { once } from 'node:events';
import { request } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { event } from './recording.ts';

interface Flood {
  url: string;
  /** Access tokens. Each of the `atOnce` senders uses one of them. */
  tokens: string[];
  atOnce: number;
  forMs: number;
  bytes: number;
}

const ROWS_PER_BODY = 1000;
/** Number of bodies made in advance. When posted again, their rows are duplicates. */
const BODIES = 4;

/**
 * Posts large batches in a separate thread, so as not to delay what the caller measures. Resolves with the number of
 * answers by status; 0 stands for a cut connection.
 */
export async function floodUploads(flood: Flood): Promise<Record<string, number>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: flood });
  const [counts] = await once(worker, 'message');
  await worker.terminate();
  return counts;
}

if (parentPort !== null) parentPort.postMessage(await run(workerData));

async function run({ url, tokens, atOnce, forMs, bytes }: Flood): Promise<Record<string, number>> {
  const bodies = Array.from({ length: BODIES }, () => {
    const rows = Array.from({ length: ROWS_PER_BODY }, () =>
      event({ prompt: 'x'.repeat(bytes / ROWS_PER_BODY - 300) }),
    );
    return Buffer.from(JSON.stringify(rows));
  });
  const until = performance.now() + forMs;
  const counts: Record<string, number> = {};
  const poster = async (first: number) => {
    for (let n = first; performance.now() < until; n += 1) {
      const status = await post(url, tokens[first % tokens.length] ?? '', bodies[n % BODIES] as Buffer);
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, n) => poster(n)));
  return counts;
}

function post(url: string, token: string, body: Buffer): Promise<number> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  return new Promise((resolve) => {
    const call = request(`${url}/api/recording/events/`, { method: 'POST', agent: false, headers });
    call.on('error', () => resolve(0));
    call.once('response', (response) => {
      resolve(response.statusCode ?? 0);
      call.destroy();
    });
    call.end(body);
  });
}
