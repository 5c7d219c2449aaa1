import type { EntityManager } from '@mikro-orm/postgresql';
import type { IngressConfig } from '../../shared/config/config.ts';
import type { Heartbeat } from '../../shared/db/processes.ts';
import type { Connections } from '../../shared/db/statement.ts';
import type { EndingOptions } from '../../shared/db/stores/erasure/work.ts';
import { outcomesOf } from '../../shared/db/stores/work/find.ts';
import type { Log } from '../../shared/log.ts';
import { watchCallers } from '../../shared/metrics/work.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import { openBus } from '../../shared/queue/bus.ts';
import type { Queues } from '../../shared/queue/queues.ts';
import { createCompleter } from '../../shared/work/completion.ts';
import { type Housekeeper, openHousekeeper } from '../../shared/work/housekeeper.ts';
import { jobAdder } from '../../shared/work/jobs.ts';
import type { Kinds } from '../../shared/work/kind.ts';
import { openWakeUps, type WakeUps } from '../../shared/work/wake-ups.ts';
import { serveKind } from './serve-kind.ts';
import { WorkService } from './service.ts';
import { WaitingRoom } from './waiting-room.ts';

export interface WorkParts {
  config: IngressConfig;
  database: Connections;
  /** For erasures, which must not take connections from the calls. */
  em: () => EntityManager;
  queues: Queues;
  heartbeat: Pick<Heartbeat, 'id' | 'recoveredMs' | 'rest' | 'stalledMs'>;
  kinds: Kinds;
  hearChanges(messages: readonly string[]): void;
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
  { config, database, em, queues, heartbeat, kinds, hearChanges, log }: WorkParts,
): Promise<Work> {
  const { pool } = database;
  const { recoveryWindowS, leaseMs } = config;
  const { id: process, rest } = heartbeat;
  const room = opening.adopt(
    new WaitingRoom((keys, withinMs) => outcomesOf(pool, keys, withinMs), log),
    closePart,
  );
  opening.adopt(watchCallers(room), closePart);
  const bus = opening.adopt(openBus(config, pool, log, rest), closePart);
  const wakeUps = opening.adopt(openWakeUps(bus, config.queuePrefix, log), closePart);
  await wakeUps.listen({
    ended: (ids) => room.wake(ids),
    changed: hearChanges,
    busy: () => rest.hear(),
  });
  rest.announceBy(() => wakeUps.announceBusy());
  const complete = createCompleter({ ...database, kinds, recoveryWindowS, wakeUps });
  const addJobs = jobAdder(queues, kinds);
  const isCrowded = () => room.size > 1;
  const servedKinds = Object.values(kinds).map((kind) =>
    serveKind(kind, { config, database, process, addJobs, heartbeat, isCrowded }),
  );
  const byName = new Map(servedKinds.map((one) => [one.kind.name, one]));
  const service = new WorkService({ pool, process, kinds: byName, room, complete, wakeUps, log });
  const { directUrl } = config.database;
  const terms = { process, leaseMs, recoveryWindowS };
  const repair = { pool, directUrl, em, kinds, ...terms, rest, complete, wakeUps, addJobs, log };
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
