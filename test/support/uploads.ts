import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { UserClient } from './account.ts';
import { call } from './client.ts';
import { tally } from './flood.ts';
import { event } from './recording.ts';

interface Uploads {
  people: Pick<UserClient, 'url' | 'access'>[];
  batches: number;
  rows: number;
}

interface ReadyUploads {
  /** Posts all batches of all people at once. Resolves with the counts of the answers, as `tally` returns them. */
  post(): Promise<Record<string, number>>;
}

/**
 * Prepares and posts the batches in a separate thread, so as not to delay what the caller measures. Each batch is a
 * session of its own.
 */
export async function prepareUploads({ people, batches, rows }: Uploads): Promise<ReadyUploads> {
  // Clients themselves cannot be sent to a thread.
  const data = { people: people.map(({ url, access }) => ({ url, access })), batches, rows };
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  await once(worker, 'message');
  return {
    async post() {
      worker.postMessage('post');
      const [counts] = await once(worker, 'message');
      await worker.terminate();
      return counts;
    },
  };
}

if (parentPort !== null) {
  const { people, batches, rows } = workerData as Uploads;
  const uploads = people.flatMap(({ url, access }, person) =>
    Array.from({ length: batches }, (_, batch) => {
      const session_id = `session ${person} ${batch}`;
      const body = JSON.stringify(Array.from({ length: rows }, () => event({ session_id })));
      const headers = { authorization: `Bearer ${access}` };
      return () => call<object>('POST', `${url}/api/recording/events/`, body, { headers });
    }),
  );
  parentPort.postMessage('ready');
  await once(parentPort, 'message');
  parentPort.postMessage(tally(await Promise.all(uploads.map((upload) => upload()))));
}
