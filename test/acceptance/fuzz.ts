import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { errorsIn, FUZZED, fuzz, type Report, replay, replayLine } from '../support/fuzz/run.ts';
import { residentMb } from '../support/resident-memory.ts';
import { startProcesses } from '../support/system.ts';

/**
 * Sends generated requests to every operation of the published document: `bin/node test/acceptance/fuzz.ts --requests
 * 100000 --seed 1`. Exits with 1 if an answer was not as published, or a process logged an error or died. `--replay`
 * repeats a request that a run printed.
 */
const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    connections: { type: 'string', default: '16' },
    replay: { type: 'string' },
  },
});
const FAILURES_SHOWN = 2;
const FAULT_LENGTH_MAX = 150;
const LOG_LENGTH_SHOWN = 5000;
const PROGRESS_EVERY = 10_000;

await using _ = await setUp();
await using system = await startProcesses(FUZZED);
const since = performance.now();
const seed = Number(options.seed);
const report = options.replay
  ? await replay(system, options.replay)
  : await fuzz(system, {
      requests: Number(options.requests),
      seed,
      connections: Number(options.connections),
      progress: ({ requests, failures }) => {
        if (requests % PROGRESS_EVERY !== 0) return;
        const seconds = Math.round((performance.now() - since) / 1000);
        process.stderr.write(`${requests} requests, ${failures.length} failures, ${seconds} s\n`);
      },
    });
const seconds = Math.round((performance.now() - since) / 1000);
const died = [...system.webs, ...system.workers]
  .filter(({ child }) => child.exitCode !== null || child.signalCode !== null)
  .map(({ child, log }) => ({
    code: child.exitCode,
    signal: child.signalCode,
    log: log.slice(-LOG_LENGTH_SHOWN),
  }));
const errors = errorsIn(system);
const ingressMb = died.length === 0 && (await residentMb(system.webs[0]?.child.pid));
process.stdout.write(
  `${JSON.stringify({ seed, seconds, died, ingressMb, errors: errors.slice(0, FAILURES_SHOWN), ...summarise(report) }, undefined, 1)}\n`,
);
process.exitCode = report.failures.length + errors.length + died.length === 0 ? 0 : 1;

function summarise({ requests, ends, failures }: Report) {
  const sorts = Map.groupBy(failures, ({ fault, plan }) =>
    `${plan.operation}: ${fault}`.slice(0, FAULT_LENGTH_MAX),
  );
  return {
    requests,
    failed: failures.length,
    ends: Object.fromEntries(
      [...ends].sort().map(([name, of]) => [name, Object.fromEntries([...of].sort())]),
    ),
    failures: [...sorts].map(([sort, alike]) => ({
      sort,
      count: alike.length,
      examples: alike
        .slice(0, FAILURES_SHOWN)
        .map((failure) => ({ sent: failure.sent, replay: replayLine(failure) })),
    })),
  };
}
