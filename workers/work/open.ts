import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { POOLS, type PoolName } from '../../shared/config/pools.ts';
import type { Database } from '../../shared/db/orm.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import { finishErasures } from '../../shared/db/stores/erase-account.ts';
import { type Admission, admit } from '../../shared/db/stores/work/admit.ts';
import {
  type ClaimableKinds,
  claim,
  heldAmong,
  liveAmong,
  type Room,
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
import { Housekeeper } from '../../shared/work/housekeeper.ts';
import { type Kind, type Kinds, kindNamed, kindsOf, oneAtATimeOf } from '../../shared/work/kind.ts';
import { admittedTo, type Listeners, openWakeUps } from '../../shared/work/wake-ups.ts';
import { type AttemptSteps, attemptWork } from './attempt.ts';
import type { Handler, Handlers } from './handler.ts';
import { PartsRoom } from './parts.ts';
import { WorkerPool } from './pool.ts';
import { RunningAttempts } from './running.ts';

/** How long after a database outage workers claim nothing new, so that owners reclaim their work first. */
const RECLAIM_FIRST_MS = 1200;
const IDLE_POLL_MS = 50;

type Ticket = (pool: PoolName) => Promise<void>;
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
  /** Hears of new work, and of what happens to the work here. */
  listen(): Promise<void>;
  /** Resolves when nothing runs here any more; what does after this time is released to other processes. */
  finish(withinMs: number): Promise<void>;
}

/**
 * Opens what claims, runs and ends work, and registers it for disposal. Claims nothing until it listens, or a pool gets a
 * ticket.
 */
export function openWork(opening: AsyncDisposableStack, parts: WorkParts): Work {
  const { config, database, queues, bus, heartbeat, kinds, log } = parts;
  const { recoveryWindowS, leaseMs } = config;
  const tickets = new Map(POOLS.map((name) => [name, queues.queue(name)]));
  const ticket = async (name: PoolName) => tickets.get(name)?.add([]);
  const rows = rowsOf(parts, ticket);
  const running = opening.adopt(new RunningAttempts(rows, log), close);
  heartbeat.onRecovered(() => running.look());
  const isBehind = () => served.some(({ slots }) => slots.isBehind);
  const wakeUps = opening.adopt(openWakeUps(bus, config.queuePrefix, log, isBehind), close);
  const complete = createCompletion({
    pool: database.pool,
    recoveryWindowS,
    wakeUps,
    worker: { isBehind, nextAfter: (batch) => nextAfter(served, batch, heartbeat.id) },
  });
  const room = new PartsRoom({ ...partRowsOf(parts), ticket, complete, log });
  const housekeeper = new Housekeeper({
    pool: database.pool,
    kinds,
    process: heartbeat.id,
    leaseMs,
    recoveryWindowS,
    complete,
    ticket,
    eraseAccounts: (withinMs) =>
      finishErasures(database.orm.em.fork(), { windowS: recoveryWindowS, withinMs }),
    log,
  });
  opening.adopt(housekeeper, close);
  const steps = { rows, ticket, attempt: { complete, running, parts: room, log } };
  const served = parts.pools.map((name) => {
    const claimable = { names: kindsOf(kinds, name), oneAtATime: oneAtATimeOf(kinds, name) };
    return { name, kinds: claimable, slots: createSlots(name, claimable, parts, steps) };
  });
  const hasParents = Object.values(kinds).some(({ pool, parts: of }) => of && parts.pools.includes(pool));
  const listeners: Listeners = {
    cancel: (ids) => running.wake(ids),
    admitted(names) {
      for (const { name, slots } of served) slots.wake(admittedTo(name, names));
    },
    ...(hasParents && { ended: (ids) => room.wake(ids) }),
  };
  return {
    pools: served,
    listen: () => wakeUps.listen(listeners),
    finish: (withinMs) => finish(running, withinMs, log),
  };
}

/** The statements on what this process claims, bound to its lease. */
function rowsOf({ database: { pool }, heartbeat: { id }, pools }: WorkParts, ticket: Ticket) {
  return {
    claim: (kinds: ClaimableKinds, room: Room) => claim(pool, { kinds, worker: id, room }),
    among: (ids: string[]) => heldAmong(pool, ids, id),
    reclaim: (attempts: ReadonlyMap<string, number>) => reclaim(pool, attempts, id),
    strays: (known: string[]) => straysOf(pool, id, known),
    async release(ids: string[]) {
      const released = await release(pool, ids, id);
      if (released.length > 0) await Promise.all(pools.map(ticket));
    },
  };
}

/** The statements on parts of what this process runs. */
function partRowsOf({ config: { recoveryWindowS }, database: { pool }, heartbeat, kinds }: WorkParts) {
  const terms = { process: heartbeat.id, recoveryWindowS, units: NO_UNITS };
  return {
    async admit(kind: Kind, admissions: readonly Admission[], timeoutMs: number) {
      await admit(pool, admissions, admissionTerms(kind, kinds, { ...terms, timeoutMs }));
    },
    live: (ids: readonly string[]) => liveAmong(pool, ids),
  };
}

/** The slots of one pool, over the handlers of its kinds. */
function createSlots(
  name: PoolName,
  claimable: ClaimableKinds,
  { config, heartbeat, kinds, handlers, log }: WorkParts,
  { rows, ticket, attempt }: { rows: ReturnType<typeof rowsOf>; ticket: Ticket; attempt: Attempt },
): WorkerPool {
  return new WorkerPool(config.slots[name], {
    claim: (room) => rows.claim(claimable, room),
    mayClaim: () => heartbeat.recoveredMs > RECLAIM_FIRST_MS && !heartbeat.paused.has(name),
    attempt(one, freeSlot) {
      // A claim names one of the pool's kinds, and the table has a handler for each.
      const perform = handlers[one.kind] as Handler<Kinds[string]>;
      return attemptWork({ ...attempt, kind: kindNamed(kinds, one.kind), perform }, one, freeSlot);
    },
    claimLost: () => attempt.running.claimLost(),
    passOn: () =>
      void ticket(name).catch((error: unknown) => log.warn({ err: error }, 'could not pass a ticket on')),
    log,
  });
}

/** The claim that goes with the end of these attempts: of the first pool that makes one. */
function nextAfter(
  served: readonly { slots: WorkerPool; kinds: ClaimableKinds }[],
  ended: readonly Completion[],
  worker: string,
): NextClaim | undefined {
  const attempts = ended.filter((one) => one.guard === 'attempt');
  for (const { slots, kinds } of served) {
    const next = slots.nextAfter(attempts);
    if (next !== undefined) return { ...next, kinds, worker };
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
