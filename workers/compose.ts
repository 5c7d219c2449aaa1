import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { waitForDatabase } from '../shared/boot.ts';
import type { WorkerConfig } from '../shared/config/config.ts';
import { POOLS, type PoolName } from '../shared/config/pools.ts';
import { openDatabase } from '../shared/db/orm.ts';
import { Heartbeat } from '../shared/db/processes.ts';
import { finishErasures } from '../shared/db/stores/erase-account.ts';
import { claim, heldAmong, reclaim, release, straysOf } from '../shared/db/stores/work/claim.ts';
import { openQueues } from '../shared/jobs/backend.ts';
import type { Queues } from '../shared/jobs/queues.ts';
import { openWakeUps } from '../shared/jobs/wake-ups.ts';
import type { Running } from '../shared/lifecycle.ts';
import type { Log } from '../shared/log.ts';
import { openOperatorPort } from '../shared/operator-port.ts';
import { createCompletion } from '../shared/work/completion.ts';
import { Housekeeper } from '../shared/work/housekeeper.ts';
import { type Kinds, kindsOf } from '../shared/work/kind.ts';
import { attemptWork } from './attempt.ts';
import type { Handler, Handlers } from './handler.ts';
import { WorkerPool } from './pool.ts';
import { RunningAttempts } from './running.ts';

/** How long what runs may finish after the signal to stop; the rest is handed back to other processes. */
const DRAIN_MS = 15_000;
/** A queue that is unreachable never closes: it is not waited for longer than this when there is nothing else to do. */
const CLOSE_WITHIN_MS = 1000;
/** Without a completed fetch for this long the process is stuck. */
const STUCK_MS = 10_000;
/** How long after an outage of the database workers claim nothing new. */
const RECLAIM_FIRST_MS = 1200;
/** How long one step of the housekeeping goes on with erasing accounts. */
const ERASE_FOR_MS = 900;

/** What a worker process serves: some pools of a table of kinds, and who performs them. */
export interface Service<Table extends Kinds> {
  kinds: Table;
  pools: readonly PoolName[];
  createHandlers(config: WorkerConfig, pool: Pool, log: Log): Handlers<Table>;
}

/** Builds a worker out of its configuration, in the order in which the parts need each other. */
export async function startWorker<Table extends Kinds>(
  config: WorkerConfig,
  log: Log,
  { kinds, pools, createHandlers }: Service<Table>,
): Promise<Running> {
  let serving = false;
  let queues: Queues | undefined;
  let workers: { silentMs: number; close(): Promise<void> }[] = [];
  const database = await openDatabase(config, log, 'forecue worker');
  const { pool } = database;
  const operatorPort = await openOperatorPort(config.operator, {
    healthy: () => workers.every(({ silentMs }) => silentMs < STUCK_MS),
    ready: async () => {
      await Promise.all([pool.query('select 1'), queues?.ping()]);
      return serving;
    },
  });
  await waitForDatabase(database, config, log);

  const heartbeat = new Heartbeat(pool, { kind: 'worker', leaseMs: config.leaseMs, log });
  await heartbeat.start();
  const opened = await openQueues(config, log);
  queues = opened;
  const queueOf = Object.fromEntries(POOLS.map((name) => [name, opened.queue(name)]));
  const ticket = async (name: string) => queueOf[name]?.add([]);
  const giveBack = async (ids: string[]) => {
    const released = await release(pool, ids, heartbeat.id);
    if (released.length > 0) await Promise.all(pools.map(ticket));
  };
  const running = new RunningAttempts(
    {
      among: (ids) => heldAmong(pool, ids, heartbeat.id),
      reclaim: (attempts) => reclaim(pool, attempts, heartbeat.id),
      strays: (known) => straysOf(pool, heartbeat.id, known),
      release: giveBack,
    },
    log,
  );
  heartbeat.onRecovered(() => running.look());
  const wakeUps = await openWakeUps(
    config,
    pool,
    { channel: 'cancel', wake: (ids) => running.wake(ids) },
    log,
  );
  const complete = createCompletion(pool, config.recoveryWindowS, wakeUps);
  // A claim names its kind, whose handler the table has.
  const handlers = createHandlers(config, pool, log) as Handlers<Kinds>;
  const attempt = { complete, running, worker: heartbeat.id, log };
  const slots = pools.map((name) => {
    const names = kindsOf(kinds, name);
    const serve = new WorkerPool(config.slots[name], {
      claim: (room) => claim(pool, names, heartbeat.id, room),
      // First those who still run what a crash of the database may have made queued again.
      mayClaim: () => heartbeat.recoveredMs > RECLAIM_FIRST_MS,
      attempt: (one) => {
        const perform = handlers[one.kind] as Handler<Kinds[string]>;
        return attemptWork({ ...attempt, perform }, one);
      },
      claimLost: () => running.claimLost(),
      passOn: () =>
        void ticket(name).catch((error: unknown) => log.warn({ err: error }, 'ticket not passed on')),
      log,
    });
    return { name, serve };
  });
  const housekeeper = new Housekeeper({
    pool,
    kinds,
    process: heartbeat.id,
    leaseMs: config.leaseMs,
    recoveryWindowS: config.recoveryWindowS,
    complete,
    ticket,
    eraseAccounts: () =>
      finishErasures(database.orm.em.fork(), { windowS: config.recoveryWindowS, withinMs: ERASE_FOR_MS }),
    log,
  });
  workers = slots.map(({ name, serve }) => opened.worker(name, () => serve.take()));
  await heartbeat.serve(() =>
    Object.fromEntries(
      slots.map(({ name, serve }) => [name, { slots: serve.slots, claimed: serve.claimed }]),
    ),
  );
  serving = true;

  return {
    async stop() {
      serving = false;
      await Promise.all(slots.map(({ serve }) => serve.close()));
      const taken = Promise.all(workers.map((worker) => worker.close()));
      await Promise.race([idle(running), sleep(DRAIN_MS)]);
      const unfinished = running.ids;
      running.relinquish();
      // What cannot be released now is taken over when this lease has run out.
      if (unfinished.length > 0)
        await giveBack(unfinished).catch((error: unknown) => log.warn({ err: error }, 'not released'));
      await Promise.race([taken, sleep(CLOSE_WITHIN_MS)]);
      await housekeeper.close();
      running.close();
      await wakeUps.close();
      await heartbeat.stop();
      await queues?.close();
      operatorPort.close();
      await database.close();
    },
  };
}

/** Resolves when nothing runs here. */
async function idle(running: RunningAttempts): Promise<void> {
  while (running.ids.length > 0) await sleep(50);
}
