import type { WorkerConfig } from '../shared/config/config.ts';
import type { AccessLog } from '../shared/db/access-log.ts';
import type { Connections } from '../shared/db/statement.ts';
import { assembleConnectedContext, assembleContext } from '../shared/db/stores/memory/context.ts';
import { recallPhrases } from '../shared/db/stores/memory/phrases.ts';
import { verdictsOfAccount } from '../shared/db/stores/prediction-events.ts';
import { inProject } from '../shared/domain/project.ts';
import { CONTEXT_DEFAULTS } from '../shared/schemas/limits.ts';
import type { kinds } from '../shared/work/kinds.ts';
import { createPromoteEpisodesHandler } from './memory/promote-episodes.ts';
import { createPromoteFactsHandler } from './memory/promote-facts.ts';
import { createSyncHandler } from './memory/sync.ts';
import { createDraftHandler } from './predictions/draft.ts';
import { createPredictHandler } from './predictions/predict.ts';
import type { ProviderOf } from './providers/providers.ts';
import { createBatchReplyHandler } from './replies/batch-reply.ts';
import { createPredictBatchHandler } from './replies/predict-batch.ts';
import { createReplyHandler } from './replies/reply.ts';
import type { Handlers } from './work/handler.ts';
import { createFairReads } from './work/reads.ts';

export function createHandlers(
  config: WorkerConfig,
  {
    pool,
    em,
    providerOf,
    accesses,
  }: Connections & { providerOf: ProviderOf; accesses: Pick<AccessLog, 'add'> },
): Handlers<typeof kinds> {
  const inTurn = createFairReads(config.database.poolSize);
  const about = (question: string, project: string | undefined) => ({
    ...CONTEXT_DEFAULTS,
    query: question,
    ...inProject(project),
    recencyMinutes: null,
    ownFirst: true,
  });
  const readGranted: Parameters<typeof createPredictHandler>[1] = (reader, { request, question, tails }) =>
    inTurn(reader, async () => {
      const grantedContext = await assembleConnectedContext(
        em(),
        reader.memory,
        about(question, request.project),
      );
      const phrases =
        grantedContext.bundle === null
          ? []
          : await recallPhrases(pool, 'connection', reader.memory, tails, request.project);
      return { ...grantedContext, phrases };
    });
  const readOwn: Parameters<typeof createDraftHandler>[1] = (reader, { request, question, tails }) =>
    inTurn(reader, async () => ({
      phrases: await recallPhrases(pool, 'account', reader.memory, tails, request.project),
      verdicts: await verdictsOfAccount(pool, reader.memory),
      bundle: await assembleContext(em(), reader.memory, about(question, request.project)),
    }));
  const replies = { em, inTurn, providerOf, accesses, settings: config };
  const promotion = { em, providerOf, settings: config };
  return {
    sync: createSyncHandler({ pool, em }),
    promote_episodes: createPromoteEpisodesHandler(promotion),
    promote_facts: createPromoteFactsHandler(promotion),
    reply: createReplyHandler(replies),
    predict_batch: createPredictBatchHandler(replies),
    batch_reply: createBatchReplyHandler(replies),
    draft: createDraftHandler(providerOf(config.tabModel), readOwn, config),
    predict: createPredictHandler(providerOf(config.tabModel), readGranted, accesses, config),
  };
}
