import { createAsk } from './ask.ts';
import { runBareApp } from './bare-app.ts';

const [providerUrl = ''] = process.argv.slice(2);

/** No queue, no database: the process that took the call asks the provider itself. */
await runBareApp('direct', async () => ({ predict: createAsk(providerUrl), close: async () => {} }));
