import { setTimeout as sleep } from 'node:timers/promises';
import { waitForDatabase } from '../shared/boot.ts';
import type { WorkerConfig } from '../shared/config/config.ts';
import { combine } from '../shared/db/combine.ts';
import { openDatabase } from '../shared/db/orm.ts';
import { Presence } from '../shared/db/processes.ts';
import { claim, handBack, heldBy } from '../shared/db/stores/predictions/claim.ts';
import { type Ending, end } from '../shared/db/stores/predictions/end.ts';
import { eraseTexts, forget } from '../shared/db/stores/predictions/erase.ts';
import { doomed, forgotten, takeOver } from '../shared/db/stores/predictions/reap.ts';
import { openQueues } from '../shared/jobs/backend.ts';
import { createDispatch } from '../shared/jobs/dispatch.ts';
import type { Queues } from '../shared/jobs/queues.ts';
import { openWakeUps } from '../shared/jobs/wake-ups.ts';
import type { Running } from '../shared/lifecycle.ts';
import type { Log } from '../shared/log.ts';
import { openOperatorPort } from '../shared/operator-port.ts';
import { createConsumer } from './consumer.ts';
import { createPredict } from './handlers/predict.ts';
import { createProvider } from './providers/index.ts';
import { Reaper } from './reaper.ts';
import { RunningAttempts } from './running.ts';

/** How long what runs may finish after the signal to stop; the rest is handed back to other processes. */
const DRAIN_MS = 15_000;
const MOST_TOGETHER = 200;
/** A queue that is away never says good-bye: it is not waited for longer than this when there is nothing else to do. */
const FAREWELL_MS = 1000;
/** Without a look at the truth for this long the process is stuck. */
const STUCK_MS = 15_000;

/** Builds a worker out of its configuration, in the order in which the parts need each other. */
export async function startWorker(config: WorkerConfig, log: Log): Promise<Running> {
  let serving = false;
  let queues: Queues | undefined;
  const database = await openDatabase(config, log, 'forecue worker');
  const { pool } = database;
  let attempts: RunningAttempts | undefined;
  const operatorPort = await openOperatorPort(config.operator, {
    healthy: () => attempts === undefined || attempts.staleMs < STUCK_MS,
    ready: async () => {
      await Promise.all([pool.query('select 1'), queues?.ping()]);
      return serving;
    },
  });
  await waitForDatabase(database, config, log);

  const presence = new Presence(pool, { kind: 'worker', leaseMs: config.leaseMs, log });
  await presence.enter();
  queues = await openQueues(config, log);
  const dispatch = createDispatch(queues.queue('predict'));
  const together = { most: MOST_TOGETHER };
  const endTogether = combine((batch: Ending[]) => end(pool, batch, config.recoveryWindowS), together);
  const giveBack = async (ids: string[]) => {
    const returned = await handBack(pool, ids, presence.id);
    await Promise.all(returned.map(dispatch));
  };
  const running = new RunningAttempts(() => heldBy(pool, presence.id), giveBack, log);
  attempts = running;
  const wakeUps = await openWakeUps(
    config,
    pool,
    { channel: 'cancel', wake: (ids) => running.wake(ids) },
    log,
  );
  const consume = createConsumer({
    claim: combine((ids: string[]) => claim(pool, ids, presence.id), together),
    end: endTogether,
    perform: createPredict(createProvider(config), config, log),
    running,
    wakeUps,
    worker: presence.id,
    log,
  });
  const reaper = new Reaper({
    takeOver: () => takeOver(pool),
    forgotten: () => forgotten(pool),
    doomed: () => doomed(pool),
    end: endTogether,
    eraseTexts: () => eraseTexts(pool),
    forget: () => forget(pool),
    dispatch,
    wakeUps,
    log,
  });
  const worker = queues.worker('predict', consume, { slots: config.concurrency });
  serving = true;

  return {
    async stop() {
      serving = false;
      const taken = worker.close();
      await Promise.race([taken, idle(running), sleep(DRAIN_MS)]);
      const unfinished = running.ids;
      running.relinquish();
      // What no queue takes now is queued by the reaper of another process.
      if (unfinished.length > 0)
        await giveBack(unfinished).catch((error: unknown) => log.warn({ err: error }, 'not queued again'));
      await Promise.race([taken, sleep(FAREWELL_MS)]);
      await reaper.close();
      running.close();
      await wakeUps.close();
      await presence.leave();
      await queues?.close();
      operatorPort.close();
      await database.close();
    },
  };
}

/** Resolves when nothing has run here for as long as a queue that answers would need to say good-bye. */
async function idle(running: RunningAttempts): Promise<void> {
  for (let idleMs = 0; idleMs < FAREWELL_MS; idleMs = running.ids.length === 0 ? idleMs + 100 : 0)
    await sleep(100);
}
