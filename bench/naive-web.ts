import { Queue, QueueEvents } from 'bullmq';
import type { PredictionRequest } from '../shared/schemas/predictions.ts';
import { runBareApp } from './bare-app.ts';

const [redisUrl = '', prefix = ''] = process.argv.slice(2);
const TTL_MS = 10_000;

/** The obvious home-made version: the request is the job, and its result comes back through `waitUntilFinished`. */
await runBareApp('naive web', async () => {
  const options = { prefix, connection: { url: redisUrl } };
  const queue = new Queue<PredictionRequest, string>('naive', options);
  const events = new QueueEvents('naive', options);
  // Each waiting call adds a listener to the queue and to the events.
  queue.setMaxListeners(0);
  events.setMaxListeners(0);
  await events.waitUntilReady();
  return {
    async predict(request) {
      // Keeps the latest 1000 completed jobs: `waitUntilFinished` fails if its job is removed before it looks.
      const job = await queue.add('predict', request, { removeOnComplete: 1000 });
      return job.waitUntilFinished(events, TTL_MS);
    },
    close: () => Promise.all([queue.close(), events.close()]),
  };
});
