import { createAsk } from './ask.ts';
import { runBareApp } from './bare-app.ts';

const [providerUrl = ''] = process.argv.slice(2);

/** Asks the provider in the process that receives the call, without queue or database. */
await runBareApp('direct', async () => ({ predict: createAsk(providerUrl), close: async () => {} }));
