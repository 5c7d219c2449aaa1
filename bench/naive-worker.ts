import { Worker } from 'bullmq';
import { runMain } from '../shared/process/lifecycle.ts';
import type { PredictionRequest } from '../shared/schemas/predictions.ts';
import { createAsk } from './ask.ts';

const [redisUrl = '', prefix = '', providerUrl = ''] = process.argv.slice(2);
/** Number of jobs at a time. A higher value changes nothing if the provider answers in 0 ms. */
const CONCURRENCY = 32;

await runMain(
  'naive worker',
  () => ({ logLevel: 'warn' }),
  async () => {
    const ask = createAsk(providerUrl);
    const worker = new Worker<PredictionRequest, string>('naive', (job) => ask(job.data), {
      prefix,
      connection: { url: redisUrl, maxRetriesPerRequest: null },
      concurrency: CONCURRENCY,
    });
    await worker.waitUntilReady();
    return { stop: () => worker.close() };
  },
);
