import type { WorkerConfig } from '../../shared/config/config.ts';
import { assembleConnectedContext } from '../../shared/db/stores/memory/context.ts';
import type { Log } from '../../shared/log.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import type { kinds } from '../../shared/work/kinds.ts';
import { createPromoteEpisodes } from '../promotion/episodes.ts';
import { createPromoteFacts } from '../promotion/facts.ts';
import type { ProviderOf } from '../providers/index.ts';
import type { Handlers, Stores } from '../work/handler.ts';
import { createBatchReply } from './batch-reply.ts';
import { createPredict, type ReadMemory } from './predict.ts';
import { createPredictBatch } from './predict-batch.ts';
import { readsInTurn } from './reads.ts';
import { createReply } from './reply.ts';
import { createSync } from './sync.ts';

/** The handler of every kind of work. */
export function createHandlers(
  config: WorkerConfig,
  { pool, em, providerOf }: Stores & { providerOf: ProviderOf },
  log: Log,
): Handlers<typeof kinds> {
  const inTurn = readsInTurn(config.database.poolSize);
  const readMemory: ReadMemory = (reader, question) =>
    inTurn(reader, () =>
      assembleConnectedContext(em(), reader.memory, { query: question, ...CONTEXT_DEFAULTS }),
    );
  const replies = { pool, em, inTurn, providerOf, settings: config, log };
  const promotion = { em, providerOf, settings: config, log };
  return {
    sync: createSync(em),
    promote_episodes: createPromoteEpisodes(promotion),
    promote_facts: createPromoteFacts(promotion),
    reply: createReply(replies),
    predict_batch: createPredictBatch(replies),
    batch_reply: createBatchReply(replies),
    predict: createPredict(providerOf(config.defaultModel), readMemory, config, log),
  };
}
