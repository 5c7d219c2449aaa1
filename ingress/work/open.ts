import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { IngressConfig } from '../../shared/config/config.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import type { EndingOptions } from '../../shared/db/stores/erasure/work.ts';
import { outcomesOf } from '../../shared/db/stores/work/find.ts';
import { readLoad } from '../../shared/db/stores/work/load.ts';
import type { Log } from '../../shared/log.ts';
import { watchCallers } from '../../shared/metrics/work.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import { openBus } from '../../shared/queue/bus.ts';
import type { Queues } from '../../shared/queue/queues.ts';
import { createCompleter } from '../../shared/work/completion.ts';
import { type Housekeeper, openHousekeeper } from '../../shared/work/housekeeper.ts';
import type { Kinds } from '../../shared/work/kind.ts';
import { openWakeUps, type WakeUps } from '../../shared/work/wake-ups.ts';
import { LoadMonitor } from './load-monitor.ts';
import { serveKind } from './serve-kind.ts';
import { WorkService } from './service.ts';
import { WaitingRoom } from './waiting-room.ts';

export interface WorkParts {
  config: IngressConfig;
  pool: Pool;
  em: () => EntityManager;
  queues: Queues;
  heartbeat: Pick<Heartbeat, 'id' | 'recoveredMs'>;
  kinds: Kinds;
  log: Log;
}

export interface Work {
  service: WorkService;
  wakeUps: WakeUps;
  housekeeper: Housekeeper;
  endingOptions: EndingOptions;
  readonly isBusy: boolean;
  /** Answers all waiting callers with `service_unavailable`, for a shutdown. */
  closeRoom(): void;
}

/** Opens the parts that admit work and wait for it, and this process's housekeeper. */
export async function openWork(
  opening: AsyncDisposableStack,
  { config, pool, em, queues, heartbeat, kinds, log }: WorkParts,
): Promise<Work> {
  const { recoveryWindowS, leaseMs } = config;
  const process = heartbeat.id;
  const room = opening.adopt(
    new WaitingRoom((keys, withinMs) => outcomesOf(pool, keys, withinMs), log),
    closePart,
  );
  opening.adopt(watchCallers(room), closePart);
  const bus = opening.adopt(openBus(config, pool, log), closePart);
  const wakeUps = opening.adopt(openWakeUps(bus, config.queuePrefix, log), closePart);
  await wakeUps.listen({ ended: (ids) => room.wake(ids) });
  const complete = createCompleter({ pool, recoveryWindowS, wakeUps });
  const load = new LoadMonitor(kinds, {
    read: (of) => readLoad(pool, of),
    isBusy: () => room.size > 0,
    deadlineMs: (kind) => config[kind.deadline],
    canJudge: () => heartbeat.recoveredMs > leaseMs,
    log,
  });
  opening.adopt(load, closePart);
  const isCrowded = () => room.size > 1;
  const servedKinds = Object.values(kinds).map((kind) =>
    serveKind(kind, { config, pool, process, queues, wakeUps, load, isCrowded }),
  );
  const byName = new Map(servedKinds.map((one) => [one.kind.name, one]));
  const service = new WorkService({ pool, process, kinds: byName, load, room, complete, wakeUps, log });
  // Without a worker, the first caller must be refused rather than wait in vain.
  await load.poll();
  const { directUrl } = config.database;
  const repair = { pool, directUrl, em, kinds, process, leaseMs, recoveryWindowS, complete, wakeUps, log };
  const { housekeeper, ending } = openHousekeeper(opening, repair);
  return {
    service,
    wakeUps,
    housekeeper,
    endingOptions: ending,
    get isBusy() {
      return room.size > 0;
    },
    closeRoom: () => room.close(),
  };
}
