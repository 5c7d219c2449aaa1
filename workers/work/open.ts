import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerConfig } from '../../shared/config/config.ts';
import type { PoolName } from '../../shared/config/pools.ts';
import type { Database } from '../../shared/db/orm.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import { finishWhatIsLeft } from '../../shared/db/stores/erase-account.ts';
import { type Admission, admit } from '../../shared/db/stores/work/admit.ts';
import {
  type ClaimTerms,
  claim,
  type Flow,
  heldAmong,
  liveAmong,
  reclaim,
  release,
  straysOf,
} from '../../shared/db/stores/work/claim.ts';
import type { Completion } from '../../shared/db/stores/work/complete.ts';
import { close } from '../../shared/lifecycle.ts';
import type { Log } from '../../shared/log.ts';
import type { Bus } from '../../shared/queue/bus.ts';
import type { Queues } from '../../shared/queue/queues.ts';
import { admissionTerms, NO_UNITS } from '../../shared/work/admission.ts';
import { createCompletion, type NextClaim } from '../../shared/work/completion.ts';
import { endingTerms } from '../../shared/work/ending-terms.ts';
import { Housekeeper } from '../../shared/work/housekeeper.ts';
import { type Kind, type Kinds, kindNamed, servedBy } from '../../shared/work/kind.ts';
import { flowsOf, type Listeners, openWakeUps } from '../../shared/work/wake-ups.ts';
import { type AttemptSteps, attemptWork } from './attempt.ts';
import type { Handler, Handlers } from './handler.ts';
import { Looks } from './look.ts';
import { PartsRoom } from './parts.ts';
import { WorkerPool } from './pool.ts';
import { RunningAttempts } from './running.ts';

/** How long after a database outage workers claim nothing new, so that owners reclaim their work first. */
const RECLAIM_FIRST_MS = 1200;
const IDLE_POLL_MS = 50;

type Attempt = Omit<AttemptSteps, 'perform' | 'kind'>;

export interface WorkParts {
  config: WorkerConfig;
  database: Database;
  queues: Queues;
  bus: Bus;
  /** Of this process: the lease of all that it claims. */
  heartbeat: Heartbeat;
  kinds: Kinds;
  pools: readonly PoolName[];
  handlers: Handlers<Kinds>;
  log: Log;
}

/** The worker's side of all kinds of work. */
export interface Work {
  pools: readonly { name: PoolName; slots: WorkerPool }[];
  looks: Looks;
  /** Hears of new work, and of what happens to the work here. */
  listen(): Promise<void>;
  /** Resolves when nothing runs here any more; what does after this time is released to other processes. */
  finish(withinMs: number): Promise<void>;
}

/**
 * Opens what claims, runs and ends work, and registers it for disposal. Claims nothing until it listens or looks.
 */
export function openWork(opening: AsyncDisposableStack, parts: WorkParts): Work {
  const { config, database, bus, heartbeat, kinds, log } = parts;
  const { recoveryWindowS, leaseMs } = config;
  const rows = rowsOf(parts, (flows) => wakeUps.admitted(flows));
  const running = opening.adopt(new RunningAttempts(rows, log), close);
  heartbeat.onRecovered(() => running.look());
  const isBehind = () => served.some(({ slots }) => slots.isBehind);
  const wakeUps = opening.adopt(openWakeUps(bus, config.queuePrefix, log, isBehind), close);
  const complete = createCompletion({
    pool: database.pool,
    recoveryWindowS,
    wakeUps,
    worker: { isBehind, nextAfter: (batch) => nextAfter(served, batch) },
  });
  const queued = ({ name: kind }: Kind, party: string) => wakeUps.admitted([{ kind, party }]);
  const room = new PartsRoom({ ...partRowsOf(parts), queued, complete, log });
  const terms = endingTerms(kinds, wakeUps, recoveryWindowS);
  const housekeeper = new Housekeeper({
    pool: database.pool,
    kinds,
    process: heartbeat.id,
    leaseMs,
    recoveryWindowS,
    complete,
    wakeUps,
    eraseAccounts: (withinMs) => finishWhatIsLeft(database.orm.em.fork(), terms, withinMs),
    log,
  });
  opening.adopt(housekeeper, close);
  const attempt = { complete, running, parts: room, log };
  const served = parts.pools.map((name) => ({ name, ...createSlots(name, parts, attempt) }));
  const hear = (flows: readonly Flow[]) => {
    for (const { slots } of served) slots.heard(flows);
  };
  const pools = served.map(({ slots }) => slots);
  const looks = opening.adopt(new Looks(database.pool, pools, log), close);
  const hasParents = Object.values(kinds).some(({ pool, parts: of }) => of && parts.pools.includes(pool));
  const listeners: Listeners = {
    cancel: (ids) => running.wake(ids),
    admitted: (names) => hear(flowsOf(names)),
    ...(hasParents && { ended: (ids) => room.wake(ids) }),
  };
  return {
    pools: served,
    looks,
    listen: () => wakeUps.listen(listeners),
    finish: (withinMs) => finish(running, withinMs, log),
  };
}

/** The statements on what this process claims, bound to its lease. */
function rowsOf(
  { database: { pool }, heartbeat: { id } }: WorkParts,
  wake: (flows: readonly Flow[]) => void,
) {
  return {
    among: (ids: string[]) => heldAmong(pool, ids, id),
    reclaim: (attempts: ReadonlyMap<string, number>) => reclaim(pool, attempts, id),
    strays: (known: string[]) => straysOf(pool, id, known),
    async release(ids: string[]) {
      wake(await release(pool, ids, id));
    },
  };
}

/** The statements on parts of what this process runs. */
function partRowsOf({ config: { recoveryWindowS }, database: { pool }, heartbeat }: WorkParts) {
  const terms = { process: heartbeat.id, recoveryWindowS, units: NO_UNITS };
  return {
    async admit(kind: Kind, admissions: readonly Admission[], timeoutMs: number) {
      await admit(pool, admissions, admissionTerms(kind, { ...terms, timeoutMs }));
    },
    live: (ids: readonly string[]) => liveAmong(pool, ids),
  };
}

/** The slots of one pool, over the handlers of its kinds; and what each claim for them says. */
function createSlots(
  name: PoolName,
  { config, database, heartbeat, kinds: all, handlers, log }: WorkParts,
  attempt: Attempt,
): { slots: WorkerPool; terms: Terms } {
  const kinds = servedBy(all, name);
  const oneAtATime = Object.values(kinds).flatMap((kind) => (kind.oneAtATime ? [kind.name] : []));
  // Superseding work takes an earlier place, by its own time at most.
  const reachMs = 2 * Math.max(...Object.values(kinds).map(({ deadline }) => config[deadline]));
  const terms = { worker: heartbeat.id, oneAtATime, reachMs };
  const slots = new WorkerPool(config.slots[name], kinds, {
    claim: (asks, most) => claim(database.pool, { ...terms, asks, slots: most }),
    mayClaim: () => heartbeat.recoveredMs > RECLAIM_FIRST_MS && !heartbeat.paused.has(name),
    attempt(one, freeSlot) {
      // A claim names one of the pool's kinds, and the table has a handler for each.
      const perform = handlers[one.kind] as Handler<Kinds[string]>;
      return attemptWork({ ...attempt, kind: kindNamed(kinds, one.kind), perform }, one, freeSlot);
    },
    claimLost: () => attempt.running.claimLost(),
    log,
  });
  return { slots, terms };
}

type Terms = Omit<ClaimTerms, 'asks' | 'slots'>;

/** The claim that goes with the end of these attempts: of the first pool that makes one. */
function nextAfter(
  served: readonly { slots: WorkerPool; terms: Terms }[],
  ended: readonly Completion[],
): NextClaim | undefined {
  const attempts = ended.filter((one) => one.guard === 'attempt');
  for (const { slots, terms } of served) {
    const next = slots.nextAfter(attempts);
    if (next !== undefined) return { ...next, ...terms };
  }
  return undefined;
}

/**
 * Waits for what runs; aborts and releases what still does when the time is over. What waits for its parts is released at
 * once: nobody here takes these up.
 */
async function finish(running: RunningAttempts, withinMs: number, log: Log): Promise<void> {
  const released = (releasing: Promise<void>) =>
    releasing.catch((error: unknown) =>
      log.warn({ err: error }, 'could not release unfinished work: it is taken over when this lease ends'),
    );
  const until = performance.now() + withinMs;
  while (running.ids.length > 0 && performance.now() < until) {
    await released(running.relinquishParked());
    await sleep(IDLE_POLL_MS);
  }
  await released(running.relinquish());
}
