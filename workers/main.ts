import { workerConfig } from '../shared/config/config.ts';
import { runMain } from '../shared/process/lifecycle.ts';
import { kinds } from '../shared/work/kinds.ts';
import { isScheduler, poolsOf, SERVICES, startWorker } from './compose.ts';
import { createHandlers } from './handlers.ts';

const [service = ''] = process.argv.slice(2);
const pools = poolsOf(kinds, service);
if (pools === undefined) {
  process.stderr.write(`usage: workers/main.ts ${SERVICES.join('|')}\n`);
  process.exitCode = 2;
} else {
  await runMain(
    service,
    (values) => workerConfig(values, pools),
    (config, log) =>
      startWorker(config, log, { kinds, pools, createHandlers, schedules: isScheduler(service) }),
  );
}
