import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { predictionBody } from '../support/client.ts';
import { delay } from '../support/fake-provider.ts';
import { startLoad } from '../support/load.ts';
import { startProcesses } from '../support/system.ts';
import { startToolServer } from '../support/tool-server.ts';

/**
 * By hand: a healthy installation with every kind of process logs nothing above `info`, idle for ten minutes and then
 * under load. `bin/node test/acceptance/quiet-logs.ts --minutes 10 --seconds 60`; TEST_REDIS_URL puts the queues on
 * Redis. Exits with 1 if there was a line above `info`, or no call was answered.
 */
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
  },
});

const CALLERS = 32;
const SERVICE_MS = 50;
/** Pino's number for the level `info`. */
const INFO_LEVEL = 30;

await using _ = await setUp();
await using system = await startProcesses({
  workers: 2,
  workerEntry: ['workers/main.ts', 'all'],
  env: { SANDBOX_UNITS: '1000000', SYNC_EVERY: '', PROMOTE_EVERY: '', LEASE_MS: '' },
});
await using tools = await startToolServer(system.webs[0]?.url ?? '');
system.provider.respond(delay(SERVICE_MS));
const lines = { all: 0, above: [] as string[] };
for (const { child } of [...system.webs, ...system.workers, tools])
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream as Readable }).on('line', (line) => {
      lines.all += 1;
      if (!isQuiet(line)) lines.above.push(line);
    });
await sleep(60_000 * Number(options.minutes));
const idle = lines.all;
const app = await system.app();
const load = startLoad((body) => app.predict(body), { callers: CALLERS });
await sleep(1000 * Number(options.seconds));
const answered = (await load.stop()).filter(({ reply }) => reply.status === 200).length;
await app.predict(predictionBody());
process.stdout.write(
  `${JSON.stringify({ ...options, idle, lines: lines.all, answered, above: lines.above })}\n`,
);
process.exitCode = lines.above.length === 0 && answered > 0 ? 0 : 1;

/** Reports whether a line is at most `info`. A line that is not JSON, such as a Node warning, is not. */
function isQuiet(line: string): boolean {
  if (!line.startsWith('{')) return false;
  return (JSON.parse(line) as { level: number }).level <= INFO_LEVEL;
}
