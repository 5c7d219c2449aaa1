import type { Pool } from 'pg';
import { type AdminConfig, POOLS } from '../../shared/config/config.ts';
import { queueIdentity } from '../../shared/config/published-settings.ts';
import { type LivingProcess, livingProcesses } from '../../shared/db/living-processes.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import { DRIFT_MAX_MS, type Finding, fault, fine } from './checks.ts';

export async function checkProcesses(pool: Pool, config: AdminConfig): Promise<Finding> {
  const processes = await livingProcesses(pool);
  if (processes.length === 0)
    return fault('none is running', 'start one of each line of the Procfile; their logs say why they end');
  const faults = [
    ...missingProcesses(processes),
    ...differences(processes),
    ...workersWithoutKey(processes),
    ...clockFaults(processes),
    ...otherQueueFaults(processes, config),
  ];
  if (faults.length > 0)
    return fault(faults.map(([what]) => what).join('; '), faults.map(([, toDo]) => toDo).join('; '));
  return fine(
    `${tally(processes, ({ kind }) => kind)}, version ${processes[0]?.settings.version}, one queue`,
  );
}

type Fault = readonly [what: string, toDo: string];

/** A worker of all pools schedules as well; another one without pools only schedules. */
function* missingProcesses(processes: readonly LivingProcess[]): Generator<Fault> {
  const workers = processes.filter(({ kind }) => kind === 'worker');
  const unserved = POOLS.filter((pool) => !workers.some(({ pools }) => pools.includes(pool)));
  const schedules = workers.some(({ pools }) => pools.length === 0 || pools.length === POOLS.length);
  const missing = [
    ...(workers.length < processes.length ? [] : ['web']),
    ...unserved,
    ...(schedules ? [] : ['scheduler']),
  ];
  if (missing.length > 0)
    yield [`nothing runs as ${missing.join(', ')}`, 'start one of each: the lines of the Procfile'];
}

function* differences(processes: readonly LivingProcess[]): Generator<Fault> {
  const describeDifference = (ofOne: (one: LivingProcess) => string, among = processes) =>
    new Set(among.map(ofOne)).size > 1 && tally(among, ofOne);
  const versions = describeDifference(({ settings }) => `version ${settings.version}`);
  if (versions) yield [`they differ: ${versions}`, 'finish the rollout: restart those of the older version'];
  if (new Set(processes.map(({ settings }) => settings.queue)).size > 1)
    yield [
      `they are on different queues: ${tally(processes, ({ kind, settings }) => `${kind} on ${settings.queue}`)}`,
      'give all processes the same REDIS_URL, DATABASE_DIRECT_URL and QUEUE_PREFIX, written the same',
    ];
  const workers = processes.filter(({ settings }) => settings.models !== undefined);
  const models = describeDifference(({ settings }) => `models ${settings.models?.join(' and ')}`, workers);
  if (models) yield [`workers differ: ${models}`, 'give all workers the same DEFAULT_MODEL and TAB_MODEL'];
}

function* workersWithoutKey(processes: readonly LivingProcess[]): Generator<Fault> {
  const keyless = processes.filter(
    ({ settings }) => settings.has_key === false && settings.models?.some((model) => model !== LOCAL_MODEL),
  );
  if (keyless.length > 0)
    yield [
      `workers without a key for their model: ${keyless.length}`,
      'set OPENAI_API_KEY, and restart them',
    ];
}

function* clockFaults(processes: readonly LivingProcess[]): Generator<Fault> {
  const driftingClocks = processes.flatMap(({ kind, settings }) => {
    const ahead = settings.clock_ahead_s;
    if (1000 * Math.abs(ahead) <= DRIFT_MAX_MS) return [];
    return `${kind} ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead' : 'behind'}`;
  });
  if (driftingClocks.length > 0)
    yield [
      `clocks are off from the database's: ${driftingClocks.join(', ')}`,
      'synchronise the clocks of their machines (NTP)',
    ];
}

function* otherQueueFaults(processes: readonly LivingProcess[], config: AdminConfig): Generator<Fault> {
  const own = queueIdentity(config);
  if (processes.some(({ settings }) => settings.queue !== own))
    yield [
      `this command's settings name another queue (${own})`,
      'give it the REDIS_URL and QUEUE_PREFIX of the processes',
    ];
}

/** Returns counts such as `2 web, 1 worker`. */
function tally(processes: readonly LivingProcess[], ofOne: (one: LivingProcess) => string): string {
  return [...Map.groupBy(processes, ofOne)].map(([what, { length }]) => `${length} ${what}`).join(', ');
}
