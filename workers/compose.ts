import { waitForDatabase } from '../shared/boot.ts';
import type { WorkerConfig } from '../shared/config/config.ts';
import type { PoolName } from '../shared/config/pools.ts';
import { openDatabase } from '../shared/db/orm.ts';
import { openHeartbeat } from '../shared/db/processes.ts';
import { ProcessHealth } from '../shared/health.ts';
import { close, type Running } from '../shared/lifecycle.ts';
import type { Log } from '../shared/log.ts';
import { openOperatorPort } from '../shared/operator-port.ts';
import { openQueues } from '../shared/queue/backend.ts';
import type { TicketWorker } from '../shared/queue/queues.ts';
import { STOP_LIMITS } from '../shared/stop-limits.ts';
import { createBus } from '../shared/work/bus.ts';
import type { Kinds } from '../shared/work/kind.ts';
import { SCHEDULE_QUEUE } from '../shared/work/schedules.ts';
import type { ProviderOf } from './providers/index.ts';
import { openProviders } from './providers/open.ts';
import { openScheduler } from './schedules/open.ts';
import type { Handlers, Stores } from './work/handler.ts';
import { openWork, type Work } from './work/open.ts';

/** What a worker process serves: some pools of a table of kinds, and the handlers that perform them. */
export interface Service<Table extends Kinds> {
  kinds: Table;
  pools: readonly PoolName[];
  /** Whether it also fires the recurring work. */
  schedules?: boolean;
  createHandlers(config: WorkerConfig, parts: Stores & { providerOf: ProviderOf }, log: Log): Handlers<Table>;
}

const OPENERS = {
  openDatabase,
  openOperatorPort,
  waitForDatabase,
  openHeartbeat,
  openQueues,
  openProviders,
  openWork,
  openScheduler,
};

/**
 * Builds a worker from its configuration, in the order in which the parts need each other. Each part is registered for
 * disposal where it is opened: a start that fails closes what it has opened, a stop closes everything in reverse order,
 * and a part that fails to close does not keep the others from closing.
 *
 * A test replaces a part by its opener: `startWorker(config, log, service, { openQueues: async () => brokenQueues })`.
 */
export async function startWorker<Table extends Kinds>(
  config: WorkerConfig,
  log: Log,
  { kinds, pools, createHandlers, schedules = false }: Service<Table>,
  replaced: Partial<typeof OPENERS> = {},
): Promise<Running> {
  const open = { ...OPENERS, ...replaced };
  await using opening = new AsyncDisposableStack();
  const health = new ProcessHealth();
  const database = opening.adopt(await open.openDatabase(config, log, 'forecue worker'), close);
  const { pool } = database;
  // Handlers have connections of their own: no heartbeat, claim or completion waits for one that reads for long.
  const handled = opening.adopt(await open.openDatabase(config, log, 'forecue worker rows'), close);
  health.require(() => pool.query('select 1'));
  opening.adopt(await open.openOperatorPort(config.operator, health), close);
  await open.waitForDatabase(database, config, log);

  const lease = { kind: 'worker', leaseMs: config.leaseMs, log };
  const heartbeat = await open.openHeartbeat(opening, pool, lease);
  const queues = opening.adopt(await open.openQueues(config, log), close);
  health.require(() => queues.ping());
  const bus = opening.adopt(createBus(config, pool, log), close);
  const providerOf = await open.openProviders(opening, { config, pool, bus, log });
  const stores = { pool: handled.pool, em: () => handled.orm.em.fork() };
  // The table has a handler for each of its kinds.
  const handlers = createHandlers(config, { ...stores, providerOf }, log) as Handlers<Kinds>;
  const parts = { config, database, queues, bus, heartbeat, kinds, pools, handlers, log };
  const work = open.openWork(opening, parts);
  const scheduler = schedules ? await open.openScheduler(opening, parts) : undefined;
  const consumers: TicketWorker[] = [];
  opening.defer(() => drain(work, consumers, health));
  for (const { name } of work.pools) consumers.push(queues.worker(name, () => work.looks.look()));
  if (scheduler !== undefined) consumers.push(queues.worker(SCHEDULE_QUEUE, () => scheduler.take()));
  await work.listen();
  health.watch(heartbeat, work.looks);
  await heartbeat.serve(() => served(work));
  health.serving = true;
  const opened = opening.move();
  return { stop: () => opened.disposeAsync() };
}

/** What this process offers, for the load estimate of all ingresses. */
function served({ pools }: Work) {
  return Object.fromEntries(
    pools.map(({ name, slots }) => [name, { slots: slots.slots, claimed: slots.claimed }]),
  );
}

/** Claims nothing more, lets what runs finish, and releases the rest. */
async function drain(work: Work, consumers: readonly TicketWorker[], health: ProcessHealth): Promise<void> {
  health.serving = false;
  await Promise.all(work.pools.map(({ slots }) => slots.close()));
  await Promise.all([work.finish(STOP_LIMITS.workerDrain), ...consumers.map(close)]);
}
