import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { IngressConfig } from '../shared/config/config.ts';
import { POOLS, type PoolName } from '../shared/config/pools.ts';
import { batcher } from '../shared/db/batcher.ts';
import { finishErasures } from '../shared/db/stores/erase-account.ts';
import { type Admission, admit } from '../shared/db/stores/work/admit.ts';
import { detach } from '../shared/db/stores/work/detach.ts';
import { findRequest, outcomesOf } from '../shared/db/stores/work/outcomes.ts';
import { readSnapshot } from '../shared/db/stores/work/snapshot.ts';
import type { Queues, TicketQueue } from '../shared/jobs/queues.ts';
import { openWakeUps, type WakeUps } from '../shared/jobs/wake-ups.ts';
import type { Log } from '../shared/log.ts';
import { createCompletion } from '../shared/work/completion.ts';
import { createDispatch } from '../shared/work/dispatch.ts';
import { Housekeeper } from '../shared/work/housekeeper.ts';
import { type Kind, type Kinds, kindsOf } from '../shared/work/kind.ts';
import { LoadMonitor } from './load-monitor.ts';
import { WaitingRoom } from './waiting-room.ts';
import { WorkService } from './work-service.ts';

const MOST_TOGETHER = 100;
/** How long one step of the housekeeping goes on with erasing accounts. */
const ERASE_FOR_MS = 900;
/** Bytes of requests in one admission: one app's large bodies go in turn with the others' small ones. */
const MOST_BYTES = 256 * 1024;

export interface WorkParts {
  config: IngressConfig;
  pool: Pool;
  em: () => EntityManager;
  queues: Queues;
  /** This process, by its heartbeat. */
  process: string;
  kinds: Kinds;
  log: Log;
}

/** The ingress's side of all kinds of work. */
export interface Work {
  service: WorkService;
  wakeUps: WakeUps;
  /** Answers everybody who waits that the service is shutting down. */
  closeRoom(): void;
  close(): Promise<void>;
}

export async function openWork({ config, pool, em, queues, process, kinds, log }: WorkParts): Promise<Work> {
  const { recoveryWindowS } = config;
  const room = new WaitingRoom(
    {
      look: batcher(
        async (keys: string[]) => {
          const byKey = new Map((await outcomesOf(pool, keys)).map((outcome) => [outcome.key, outcome]));
          return keys.map((key) => byKey.get(key));
        },
        { most: MOST_TOGETHER },
      ),
      poll: (keys, options) => outcomesOf(pool, keys, options),
    },
    log,
  );
  const wakeUps = await openWakeUps(config, pool, { channel: 'ended', wake: (ids) => room.wake(ids) }, log);
  const complete = createCompletion(pool, recoveryWindowS, wakeUps);
  const tickets = Object.fromEntries(POOLS.map((name) => [name, queues.queue(name)])) as Record<
    PoolName,
    TicketQueue
  >;
  const ways = new Map(Object.values(kinds).map((kind) => [kind.name, openWay(kind)]));
  const service = new WorkService({
    admit: (admission, gone) => wayOf(admission.kind).admit(admission, gone),
    load: (kind) => wayOf(kind).load,
    dispatch: (kind, id) => wayOf(kind).dispatch(id),
    complete,
    detach: batcher(
      (batch: { id: string; party: string }[]) =>
        detach(
          pool,
          batch.map(({ id }) => id),
          process,
        ),
      { most: MOST_TOGETHER, partyOf: ({ party }) => party },
    ),
    find: (request) => findRequest(pool, { ...request, kinds: wayOf(request.kind).names, process }),
    room,
    wakeUps,
    log,
    timeoutMs: (kind) => wayOf(kind).timeoutMs,
  });
  // Its first caller is not to wait where no worker is.
  await Promise.all([...ways.values()].map(({ load }) => load.look()));
  const housekeeper = new Housekeeper({
    pool,
    kinds,
    process,
    leaseMs: config.leaseMs,
    recoveryWindowS,
    complete,
    ticket: (name) => tickets[name].add([]),
    eraseAccounts: () => finishErasures(em(), { windowS: config.recoveryWindowS, withinMs: ERASE_FOR_MS }),
    log,
  });

  /** What is a kind's own on the way through the ingress. */
  function openWay(kind: Kind) {
    const names = kindsOf(kinds, kind.pool);
    const terms = {
      kind: kind.name,
      kinds: names,
      process,
      timeoutMs: config[kind.deadline],
      recoveryWindowS,
      step: kind.step,
      sandboxUnits: config.sandboxUnits,
      unitPriceMicrocents: kind.charged ? config.unitPriceMicrocents : null,
    };
    return {
      names,
      timeoutMs: terms.timeoutMs,
      dispatch: createDispatch(tickets[kind.pool]),
      load: new LoadMonitor(
        () => readSnapshot(pool, kind),
        () => room.isBusy,
        {
          deadlineMs: config[kind.deadline],
          log,
        },
      ),
      admit: batcher((batch: Admission[]) => admit(pool, batch, terms), {
        most: MOST_TOGETHER,
        maxBytes: MOST_BYTES,
        // A connection that somebody holds locked keeps only its own requests waiting.
        partyOf: ({ party, connectionId }) => `${party} ${connectionId ?? ''}`,
        bytesOf: ({ input }) => input.length,
        keysOf: ({ key, line }) => (line === null ? [key] : [key, line.key]),
      }),
    };
  }

  function wayOf(kind: string): ReturnType<typeof openWay> {
    const way = ways.get(kind);
    if (way === undefined) throw new Error(`no such kind of work: ${kind}`);
    return way;
  }

  return {
    service,
    wakeUps,
    closeRoom: () => room.close(),
    async close() {
      room.close();
      for (const { load } of ways.values()) load.close();
      await housekeeper.close();
      await wakeUps.close();
    },
  };
}
