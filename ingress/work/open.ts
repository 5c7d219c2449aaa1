import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { IngressConfig } from '../../shared/config/config.ts';
import { POOLS, type PoolName } from '../../shared/config/pools.ts';
import { batcher } from '../../shared/db/batcher.ts';
import { finishWhatIsLeft } from '../../shared/db/stores/erase-account.ts';
import type { EndingTerms } from '../../shared/db/stores/erasure/jobs.ts';
import { detach } from '../../shared/db/stores/work/detach.ts';
import { readLoad } from '../../shared/db/stores/work/load.ts';
import { findRequest, outcomesOf } from '../../shared/db/stores/work/outcomes.ts';
import { isErased } from '../../shared/db/stores/work/parties.ts';
import { close } from '../../shared/lifecycle.ts';
import type { Log } from '../../shared/log.ts';
import type { Queues, TicketQueue } from '../../shared/queue/queues.ts';
import { createBus } from '../../shared/work/bus.ts';
import { createCompletion } from '../../shared/work/completion.ts';
import { endingTerms } from '../../shared/work/ending-terms.ts';
import { Housekeeper } from '../../shared/work/housekeeper.ts';
import type { Kinds } from '../../shared/work/kind.ts';
import { openWakeUps, type WakeUps } from '../../shared/work/wake-ups.ts';
import { LoadMonitor } from './load-monitor.ts';
import { serveKind } from './serve-kind.ts';
import { WorkService } from './service.ts';
import { WaitingRoom } from './waiting-room.ts';

const MOST_TOGETHER = 100;

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
  endingTerms: EndingTerms;
  /** Whether callers wait. */
  readonly isBusy: boolean;
  /** Answers every waiting caller that the service is shutting down. */
  closeRoom(): void;
}

/** Opens what admits work and waits for it, and registers it for disposal. */
export async function openWork(
  opening: AsyncDisposableStack,
  { config, pool, em, queues, process, kinds, log }: WorkParts,
): Promise<Work> {
  const { recoveryWindowS } = config;
  const room = opening.adopt(openRoom(pool, log), close);
  const ended = (ids: readonly string[]) => room.wake(ids);
  const bus = opening.adopt(createBus(config, pool, log), close);
  const wakeUps = opening.adopt(openWakeUps(bus, config.queuePrefix, log), close);
  await wakeUps.listen({ ended });
  const complete = createCompletion({ pool, recoveryWindowS, wakeUps });
  const tickets = Object.fromEntries(POOLS.map((name) => [name, queues.queue(name)])) as Record<
    PoolName,
    TicketQueue
  >;
  const load = new LoadMonitor(kinds, {
    read: (of) => readLoad(pool, of),
    isBusy: () => room.isBusy,
    deadlineMs: (kind) => config[kind.deadline],
    log,
  });
  opening.adopt(load, close);
  const isCrowded = () => room.isCrowded;
  const byKind = new Map(
    Object.values(kinds).map((kind) => {
      const parts = { config, pool, process, tickets: tickets[kind.pool], wakeUps, load, isCrowded };
      return [kind.name, serveKind(kind, parts)];
    }),
  );
  const service = new WorkService({
    admit: (admission, gone) => served(admission.kind).admit(admission, gone),
    load,
    dispatch: ({ kind, party }, id) => served(kind).dispatch(id, party),
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
    find: (key) => findRequest(pool, key),
    isErased: (party) => isErased(pool, party),
    codes: (kind) => served(kind).kind.codes,
    room,
    wakeUps,
    log,
    timeoutMs: (kind) => served(kind).timeoutMs,
  });
  // Its first caller must not wait in vain when there is no worker.
  await load.look();
  const terms = endingTerms(kinds, wakeUps, recoveryWindowS);
  const housekeeper = new Housekeeper({
    pool,
    kinds,
    process,
    leaseMs: config.leaseMs,
    recoveryWindowS,
    complete,
    wakeUps,
    eraseAccounts: (withinMs) => finishWhatIsLeft(em(), terms, withinMs),
    log,
  });
  opening.adopt(housekeeper, close);

  function served(kind: string): ReturnType<typeof serveKind> {
    const found = byKind.get(kind);
    if (found === undefined) throw new Error(`no such kind of work: ${kind}`);
    return found;
  }

  return {
    service,
    wakeUps,
    endingTerms: terms,
    get isBusy() {
      return room.isBusy;
    },
    closeRoom: () => room.close(),
  };
}

function openRoom(pool: Pool, log: Log): WaitingRoom {
  const isBusy = () => room.isCrowded;
  const look = async (keys: string[]) => {
    const byKey = await outcomesOf(pool, keys);
    return keys.map((key) => byKey.get(key));
  };
  const rows = {
    look: batcher(look, { most: MOST_TOGETHER, isBusy }),
    poll: (keys: string[], options: { withinMs: number }) => outcomesOf(pool, keys, options),
  };
  const room = new WaitingRoom(rows, log);
  return room;
}
