import type { PoolName, WorkerConfig } from '../../shared/config/config.ts';
import type { Database } from '../../shared/db/orm.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import { claim, readHeldWork, reclaim, release } from '../../shared/db/stores/work/claim.ts';
import type { Completion } from '../../shared/db/stores/work/complete.ts';
import type { Log } from '../../shared/log.ts';
import { watchSlots } from '../../shared/metrics/work.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import type { Bus } from '../../shared/queue/bus.ts';
import type { Queues } from '../../shared/queue/queues.ts';
import { createCompleter, type NextClaim } from '../../shared/work/completion.ts';
import { type Housekeeper, openHousekeeper } from '../../shared/work/housekeeper.ts';
import { type Kind, type Kinds, kindsOfPool } from '../../shared/work/kind.ts';
import { flowsOf, type Listeners, openWakeUps } from '../../shared/work/wake-ups.ts';
import { AttemptRunner } from './attempt.ts';
import type { Handlers } from './handler.ts';
import { PartsRoom } from './parts.ts';
import { QueuePoller, WorkerPool } from './pool.ts';
import { type HeldRows, RunningAttempts } from './running.ts';

/** For this time after a database outage, workers claim no new work, so that processes can first reclaim their own. */
const RECLAIM_FIRST_MS = 1200;

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
  pools: readonly { name: PoolName; slots: WorkerPool }[];
  poller: QueuePoller;
  listen(): Promise<void>;
  running: RunningAttempts;
  housekeeper: Housekeeper;
}

/** Claims nothing before `listen` is called or the poller looks at the queue. */
export function openWork(opening: AsyncDisposableStack, dependencies: WorkDependencies): Work {
  const { config, database, bus, heartbeat, kinds, handlers, log } = dependencies;
  const { pool } = database;
  const { recoveryWindowS, leaseMs } = config;
  const process = heartbeat.id;
  const rows: HeldRows = {
    readHeld: (ids) => readHeldWork(pool, process, ids),
    reclaim: (attempts) => reclaim(pool, attempts, process),
    release: async (ids) => wakeUps.announceAdmitted(await release(pool, ids, process)),
  };
  const running = opening.adopt(new RunningAttempts(rows, log), closePart);
  heartbeat.onRecovered(() => {
    // A claim that failed during the outage may still have been committed.
    running.claimLost();
    running.look();
  });
  const isBusy = (): boolean => pools.some((slots) => slots.isBusy);
  const wakeUps = opening.adopt(openWakeUps(bus, config.queuePrefix, log, isBusy), closePart);
  const worker = { isBusy, nextAfter: (batch: readonly Completion[]) => nextAfter(pools, batch) };
  const complete = createCompleter({ pool, recoveryWindowS, wakeUps, worker });
  const room = new PartsRoom({ pool, process, recoveryWindowS, wakeUps, complete, log });
  const em = () => database.orm.em.fork();
  const { directUrl } = config.database;
  const repair = { pool, directUrl, em, kinds, process, leaseMs, recoveryWindowS, complete, wakeUps, log };
  const { housekeeper } = openHousekeeper(opening, repair);
  const servedKinds = Object.assign({}, ...dependencies.pools.map((name) => kindsOfPool(kinds, name)));
  const attempts = new AttemptRunner({ kinds: servedKinds, handlers, complete, running, parts: room, log });
  const servedPools = dependencies.pools.map((name) => openPool(name, dependencies, attempts, running));
  const pools = servedPools.map(({ slots }) => slots);
  opening.adopt(watchSlots(servedPools), closePart);
  const poller = opening.adopt(new QueuePoller(pool, pools, log), closePart);
  const listeners: Listeners = {
    cancel: (ids) => running.wake(ids),
    admitted(names) {
      for (const slots of pools) slots.noteQueued(flowsOf(names));
    },
    ...(Object.values<Kind>(servedKinds).some((kind) => kind.parts) && { ended: (ids) => room.wake(ids) }),
  };
  return { pools: servedPools, poller, running, housekeeper, listen: () => wakeUps.listen(listeners) };
}

function openPool(
  name: PoolName,
  { config, database, heartbeat, kinds: all, log }: WorkDependencies,
  attempts: AttemptRunner,
  running: RunningAttempts,
): { name: PoolName; slots: WorkerPool } {
  const kinds = kindsOfPool(all, name);
  const oneAtATime = Object.values(kinds).flatMap((kind) => (kind.oneAtATime ? [kind.name] : []));
  // Claims search only work queued within this time: twice the longest time limit, because work that supersedes older
  // work takes over its place in the queue, which is at most one time limit earlier.
  const reachMs = 2 * Math.max(...Object.values(kinds).map(({ deadline }) => config[deadline]));
  const slots = new WorkerPool(config.slots[name], kinds, {
    terms: { worker: heartbeat.id, oneAtATime, reachMs },
    claim: (terms) => claim(database.pool, terms),
    mayClaim: () => heartbeat.recoveredMs > RECLAIM_FIRST_MS && !heartbeat.pausedPools.has(name),
    attempt: (one, freeSlot) => attempts.perform(one, freeSlot),
    claimLost: () => running.claimLost(),
    log,
  });
  return { name, slots };
}

/** Returns the claim of the first pool that has work for a slot that `ended` frees. It runs in the same statement. */
function nextAfter(pools: readonly WorkerPool[], ended: readonly Completion[]): NextClaim | undefined {
  const attempts = ended.filter((one) => one.guard === 'attempt');
  for (const slots of pools) {
    const next = slots.nextAfter(attempts);
    if (next !== undefined) return next;
  }
  return undefined;
}
