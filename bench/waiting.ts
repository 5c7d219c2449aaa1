import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setUp } from '../test/setup.ts';
import { percentile } from '../test/support/keep-alive-client.ts';
import { startProcesses } from '../test/support/system.ts';
import { startChild } from './child.ts';
import { requestText } from './request.ts';

/**
 * Lets many callers wait at one ingress at once: `--rate` new ones per second, while the provider takes `--service` ms.
 * Prints the memory that each caller costs the ingress, and how much longer than the provider's time they wait.
 */
const { values: options } = parseArgs({
  options: {
    callers: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '200' },
    service: { type: 'string', default: '70000' },
  },
});
const CALLERS = Number(options.callers);
const SERVICE_MS = Number(options.service);
const TIMEOUT_MS = String(2 * SERVICE_MS);

const agent = new Agent({ keepAlive: false });

/** Resolves with the milliseconds until the answer, or with what went wrong. */
function call(url: string, key: string, id: string): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  const body = requestText(id);
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const since = performance.now();
  request(`${url}/v1/predictions`, { method: 'POST', agent, headers }, (response) => {
    const { statusCode } = response;
    response
      .resume()
      .once('end', () => resolve(statusCode === 200 ? performance.now() - since : `${statusCode}`));
    response.once('error', ({ message }) => resolve(message));
  })
    .once('error', ({ message }) => resolve(message))
    .end(body);
  return promise;
}

async function memoryOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
}

await using _ = await setUp();
await using provider = await startChild('waiting-provider', 'bench/provider.ts', {
  args: [String(SERVICE_MS)],
});
await using system = await startProcesses({
  // Two, because a single app may not use the last sixteenth of a worker's slots.
  workers: 2,
  env: {
    OPENAI_BASE_URL: `${provider.url}/v1`,
    PREDICTION_TIMEOUT_MS: TIMEOUT_MS,
    PROVIDER_TIMEOUT_MS: TIMEOUT_MS,
    WORKER_CONCURRENCY: options.callers,
    MAX_CONNECTIONS: String(2 * CALLERS),
    MAX_CONNECTIONS_PER_ADDRESS: String(2 * CALLERS),
    SANDBOX_UNITS: '1000000000',
    LEASE_MS: '',
    LOG_LEVEL: 'warn',
  },
});
const { url, key } = await system.app();
const pid = system.webs[0]?.child.pid;
const before = await memoryOf(pid);
const calls: Promise<number | string>[] = [];
const since = performance.now();
while (calls.length < CALLERS) {
  const due = Math.min(CALLERS, ((performance.now() - since) / 1000) * Number(options.rate));
  while (calls.length < due) calls.push(call(url, key, `w${calls.length}`));
  await sleep(10);
}
// Waits until a second before the first answer is due.
await sleep(Math.max(0, SERVICE_MS - (performance.now() - since) - 1000));
const growth = (await memoryOf(pid)) - before;
const outcomes = await Promise.all(calls);
const addedMs = outcomes.flatMap((one) => (typeof one === 'number' ? one - SERVICE_MS : []));
const faults = Object.fromEntries(
  [
    ...Map.groupBy(
      outcomes.filter((one) => typeof one === 'string'),
      (fault) => fault,
    ),
  ].map(([fault, all]) => [fault, all.length]),
);
process.stdout.write(
  `${JSON.stringify({
    callers: CALLERS,
    answered: addedMs.length,
    faults,
    bytesEach: Math.round(growth / CALLERS),
    addedP50Ms: Math.round(percentile(addedMs, 0.5)),
    addedP95Ms: Math.round(percentile(addedMs, 0.95)),
  })}\n`,
);
process.exitCode = addedMs.length === CALLERS ? 0 : 1;
