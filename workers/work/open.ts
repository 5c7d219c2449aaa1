import type { PoolName, WorkerConfig } from '../../shared/config/config.ts';
import type { Database } from '../../shared/db/orm.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import { claim, readHeldWork, release } from '../../shared/db/stores/work/claim.ts';
import type { Log } from '../../shared/log.ts';
import { watchSlots } from '../../shared/metrics/work.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import type { Bus } from '../../shared/queue/bus.ts';
import type { Queues } from '../../shared/queue/queues.ts';
import { createCompleter } from '../../shared/work/completion.ts';
import { type Housekeeper, openHousekeeper } from '../../shared/work/housekeeper.ts';
import { jobAdder } from '../../shared/work/jobs.ts';
import { type Kinds, kindsOfPool, recallOf } from '../../shared/work/kind.ts';
import { openWakeUps } from '../../shared/work/wake-ups.ts';
import { AttemptRunner } from './attempt.ts';
import type { Handlers } from './handler.ts';
import { QueuePoller, WorkerPool } from './pool.ts';
import { type HeldRows, RunningAttempts } from './running.ts';

export interface WorkDependencies {
  config: WorkerConfig;
  database: Database;
  queues: Queues;
  bus: Bus;
  heartbeat: Heartbeat;
  kinds: Kinds;
  pools: readonly PoolName[];
  handlers: Handlers<Kinds>;
  log: Log;
}

export interface Work {
  pools: readonly { name: PoolName; workerPool: WorkerPool }[];
  poller: QueuePoller;
  listen(): Promise<void>;
  running: RunningAttempts;
  housekeeper: Housekeeper;
}

/** Claims nothing before its pools take a job or the poller looks at the queue. */
export function openWork(opening: AsyncDisposableStack, dependencies: WorkDependencies): Work {
  const { config, database, queues, bus, heartbeat, kinds, handlers, log } = dependencies;
  const { pool, em } = database;
  const { recoveryWindowS, leaseMs } = config;
  const { id: process, rest } = heartbeat;
  const addJobs = jobAdder(queues, kinds);
  const rows: HeldRows = {
    readHeld: (ids) => readHeldWork(pool, process, ids),
    release: async (ids) => addJobs(await release(pool, ids, process)),
  };
  const running = opening.adopt(new RunningAttempts(rows, log), closePart);
  const wakeUps = opening.adopt(openWakeUps(bus, config.queuePrefix, log), closePart);
  const complete = createCompleter({ ...database, kinds, recoveryWindowS, wakeUps });
  const { directUrl } = config.database;
  const terms = { process, leaseMs, recoveryWindowS };
  const repair = { pool, directUrl, em, kinds, ...terms, rest, complete, wakeUps, addJobs, log };
  const { housekeeper } = openHousekeeper(opening, repair);
  const servedKinds = Object.assign({}, ...dependencies.pools.map((name) => kindsOfPool(kinds, name)));
  const attempts = new AttemptRunner({ kinds: servedKinds, handlers, complete, running, addJobs, log });
  const servedPools = dependencies.pools.map((name) => openPool(name, dependencies, attempts, running));
  const pools = servedPools.map(({ workerPool }) => workerPool);
  opening.adopt(watchSlots(servedPools), closePart);
  const poller = opening.adopt(new QueuePoller(pool, pools, heartbeat, log), closePart);
  rest.announceBy(() => wakeUps.announceBusy());
  const listen = () => wakeUps.listen({ cancel: (ids) => running.wake(ids), busy: () => rest.hear() });
  return { pools: servedPools, poller, running, housekeeper, listen };
}

function openPool(
  name: PoolName,
  { config, database, queues, heartbeat, kinds: all, log }: WorkDependencies,
  attempts: AttemptRunner,
  running: RunningAttempts,
): { name: PoolName; workerPool: WorkerPool } {
  const kinds = kindsOfPool(all, name);
  const oneAtATime = Object.values(kinds).flatMap((kind) => (kind.oneAtATime ? [kind.name] : []));
  // Claims search only work queued within this time: twice the longest time limit, because work that supersedes older
  // work takes over its place in the queue, which is at most one time limit earlier.
  const reachMs = 2 * Math.max(...Object.values(kinds).map(({ deadline }) => config[deadline]));
  const workerPool = new WorkerPool(config.slots[name], kinds, {
    terms: { worker: heartbeat.id, oneAtATime, reachMs, recall: recallOf(all) },
    claim: (terms) => claim(database.pool, terms),
    mayClaim: () => !heartbeat.pausedPools.has(name),
    attempt: (one) => attempts.perform(one),
    claimLost: () => running.claimLost(),
    passOn: (job) => queues.add(name, [job]),
    log,
  });
  return { name, workerPool };
}
