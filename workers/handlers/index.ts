import type { WorkerConfig } from '../../shared/config/config.ts';
import { readConnectedMemory } from '../../shared/db/stores/memory/connected.ts';
import type { Log } from '../../shared/log.ts';
import type { kinds } from '../../shared/work/kinds.ts';
import type { ProviderOf } from '../providers/index.ts';
import type { Handlers, Stores } from '../work/handler.ts';
import { createPredict } from './predict.ts';
import { createSync } from './sync.ts';

/** The handler of every kind of work. */
export function createHandlers(
  config: WorkerConfig,
  { pool, em, providerOf }: Stores & { providerOf: ProviderOf },
  log: Log,
): Handlers<typeof kinds> {
  const readMemory = (connectionId: string) => readConnectedMemory(pool, connectionId);
  return {
    sync: createSync(em),
    predict: createPredict(providerOf(config.defaultModel), readMemory, config, log),
  };
}
