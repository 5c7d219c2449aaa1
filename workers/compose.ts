import { POOLS, type PoolName, type WorkerConfig } from '../shared/config/config.ts';
import { workerSettings } from '../shared/config/published-settings.ts';
import { type AccessLog, openAccessLog } from '../shared/db/access-log.ts';
import { openDatabase } from '../shared/db/orm.ts';
import { openHeartbeat } from '../shared/db/processes.ts';
import type { Connections } from '../shared/db/statement.ts';
import type { Log } from '../shared/log.ts';
import { openMailTransport } from '../shared/net/mail.ts';
import { waitForDatabase } from '../shared/process/boot.ts';
import { ProcessHealth } from '../shared/process/health.ts';
import { closePart, type RunningProcess } from '../shared/process/lifecycle.ts';
import { openOperatorPort } from '../shared/process/operator-port.ts';
import { openBus } from '../shared/queue/bus.ts';
import { type JobWorker, openQueues } from '../shared/queue/queues.ts';
import { STOP_LIMITS } from '../shared/stop-limits.ts';
import { isJob } from '../shared/work/jobs.ts';
import { type Kinds, kindNamesOfPool } from '../shared/work/kind.ts';
import { readDesiredWorkers } from '../shared/work/pool-load.ts';
import { openProviders, type ProviderOf } from './providers/providers.ts';
import { openScheduler } from './schedules/scheduler.ts';
import { WebhookSender } from './webhooks/sender.ts';
import type { Handlers } from './work/handler.ts';
import { openWork, type Work } from './work/open.ts';

export const SERVICES = [...POOLS, 'scheduler', 'all'] as const;

/** Returns undefined for an unknown service. */
export function poolsOf(kinds: Kinds, service: string): PoolName[] | undefined {
  if (!SERVICES.some((known) => known === service)) return undefined;
  return POOLS.filter(
    (pool) => (service === pool || service === 'all') && kindNamesOfPool(kinds, pool).length > 0,
  );
}

export function isScheduler(service: string): boolean {
  return service === 'scheduler' || service === 'all';
}

export interface Service<Table extends Kinds> {
  kinds: Table;
  pools: readonly PoolName[];
  /** True if the process also schedules recurring work. */
  schedules?: boolean;
  createHandlers(
    config: WorkerConfig,
    dependencies: Connections & { providerOf: ProviderOf; accesses: Pick<AccessLog, 'add'> },
  ): Handlers<Table>;
}

/**
 * If the start fails, closes the parts that were opened. A stop closes all parts in reverse order, even if one of them
 * fails to close.
 */
export async function startWorker<Table extends Kinds>(
  config: WorkerConfig,
  log: Log,
  { kinds, pools, createHandlers, schedules = false }: Service<Table>,
): Promise<RunningProcess> {
  await using opening = new AsyncDisposableStack();
  const health = new ProcessHealth();
  const database = opening.adopt(await openDatabase(config, log, 'forecue worker'), closePart);
  const { pool } = database;
  // Handlers have separate connections, so that no heartbeat, claim or completion waits for a handler's long read.
  const handlerDatabase = opening.adopt(await openDatabase(config, log, 'forecue worker rows'), closePart);
  opening.adopt(
    await openOperatorPort(config.operator, health, (name) => readDesiredWorkers(pool, kinds, name)),
    closePart,
  );
  await waitForDatabase(database, config, log);

  const lease = {
    kind: 'worker',
    leaseMs: config.leaseMs,
    settings: workerSettings(config),
    port: config.operator.port,
    log,
  };
  const heartbeat = await openHeartbeat(opening, pool, lease);
  health.require(() => heartbeat.assertStored());
  const queues = opening.adopt(await openQueues(config, log, heartbeat.rest), closePart);
  health.require(() => queues.ping());
  const bus = opening.adopt(openBus(config, pool, log, heartbeat.rest), closePart);
  const accesses = opening.adopt(openAccessLog(handlerDatabase.pool, log), closePart);
  const providerOf = openProviders(opening, { config, em: database.em, log });
  // The type of `createHandlers` requires a handler for each kind of the table.
  const handlers = createHandlers(config, { ...handlerDatabase, providerOf, accesses }) as Handlers<Kinds>;
  const dependencies = { config, database, queues, bus, heartbeat, kinds, pools, handlers, log };
  const work = openWork(opening, dependencies);
  if (schedules) await openScheduler(opening, dependencies);
  const { em } = handlerDatabase;
  const mail = config.mail && {
    send: await openMailTransport(config.mail),
    publicUrl: config.publicUrl,
  };
  opening.adopt(
    new WebhookSender({ em, heartbeat, allowsPrivate: config.allowPrivateAddresses, mail, log }),
    closePart,
  );
  const consumers: JobWorker[] = [];
  opening.defer(() => drain(work, consumers, health));
  for (const { name, workerPool } of work.pools)
    consumers.push(
      queues.worker(name, async (job) => {
        if (!isJob(job)) return log.warn({ queue: name }, 'skipped a job of another form');
        await heartbeat.awake();
        await workerPool.take(job);
      }),
    );
  await work.listen();
  health.watch(heartbeat, work.poller);
  await heartbeat.serve(() => slotsOf(work));
  health.serving = true;
  const opened = opening.move();
  return { stop: () => opened.disposeAsync() };
}

function slotsOf({ pools }: Work) {
  return Object.fromEntries(
    pools.map(({ name, workerPool: { slots, claimed, stalledMs } }) => [name, { slots, claimed, stalledMs }]),
  );
}

async function drain(work: Work, consumers: readonly JobWorker[], health: ProcessHealth): Promise<void> {
  health.serving = false;
  void work.housekeeper.close();
  await Promise.all(work.pools.map(({ workerPool }) => workerPool.close()));
  await Promise.all([work.running.drain(STOP_LIMITS.workerDrain), ...consumers.map(closePart)]);
}
