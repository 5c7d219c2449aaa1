import { once } from 'node:events';
import { request } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { event } from './recording.ts';

/** Who posts to what, how many at a time, and for how long. */
interface Flood {
  url: string;
  /** Access tokens; those who post take turns with them. */
  tokens: string[];
  atOnce: number;
  forMs: number;
  /** Of each body, about. */
  bytes: number;
}

const ROWS = 1000;
/** Bodies made in advance. Posted again, they are duplicates. */
const BODIES = 4;

/**
 * Posts large batches again and again, whatever they are answered, from a thread of its own, so that its work does not delay
 * what its caller measures. Resolves with the number of answers of each status; 0 stands for a cut connection.
 */
export async function flood(given: Flood): Promise<Record<string, number>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: given });
  const [counts] = await once(worker, 'message');
  await worker.terminate();
  return counts;
}

if (parentPort !== null) parentPort.postMessage(await run(workerData));

async function run({ url, tokens, atOnce, forMs, bytes }: Flood): Promise<Record<string, number>> {
  const bodies = Array.from({ length: BODIES }, () => {
    const rows = Array.from({ length: ROWS }, () => event({ prompt: 'x'.repeat(bytes / ROWS - 300) }));
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
