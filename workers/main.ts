import { workerConfig } from '../shared/config/config.ts';
import { runMain } from '../shared/lifecycle.ts';
import { startWorker } from './compose.ts';

const POOLS = ['predict', 'all'];

const [pool = ''] = process.argv.slice(2);
if (POOLS.includes(pool)) {
  await runMain(pool, workerConfig, startWorker);
} else {
  process.stderr.write(`usage: workers/main.ts ${POOLS.join('|')}\n`);
  process.exitCode = 2;
}
