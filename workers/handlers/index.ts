import type { Pool } from 'pg';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { readConnectedMemory } from '../../shared/db/stores/memory.ts';
import type { Log } from '../../shared/log.ts';
import type { kinds } from '../../shared/work/kinds.ts';
import type { Handlers } from '../handler.ts';
import { createProvider } from '../providers/index.ts';
import { createPredict } from './predict.ts';

/** The handler of every kind of work. */
export function createHandlers(config: WorkerConfig, pool: Pool, log: Log): Handlers<typeof kinds> {
  const readMemory = (connectionId: string) => readConnectedMemory(pool, connectionId);
  return {
    predict: createPredict(createProvider(config), readMemory, config, log),
  };
}
