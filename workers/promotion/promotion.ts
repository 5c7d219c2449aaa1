import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkerConfig } from '../../shared/config/config.ts';
import type { JobReport, Steps } from '../../shared/domain/jobs.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { PromoteResult } from '../../shared/schemas/memory-jobs.ts';
import type { Provider } from '../providers/provider.ts';

/** What the handlers of promotions work with. */
export interface PromotionParts {
  em: () => EntityManager;
  providerOf: (model: string) => Provider;
  settings: Pick<WorkerConfig, 'defaultModel' | 'providerTimeoutMs'>;
  log: Log;
}

/** What a promotion has done so far, over all its attempts. */
export interface PromotionProgress extends PromoteResult {
  steps: Steps;
}

/** A promotion that has done nothing yet. */
export function begun(model: string): PromotionProgress {
  return {
    steps: { done: 0, total: 0 },
    created: 0,
    updated: 0,
    skipped: 0,
    considered: 0,
    ids: [],
    model,
    usage: { input_tokens: 0, output_tokens: 0 },
    latency_ms: 0,
  };
}

/** The end of a promotion that has nothing left to do. */
export function succeeded(progress: PromotionProgress): End<JobReport<PromoteResult>> {
  const { steps, created, updated, skipped, considered, ids, model, usage, latency_ms } = progress;
  const result = { created, updated, skipped, considered, ids, model, usage, latency_ms };
  return { state: 'succeeded', report: { steps: { done: steps.total, total: steps.total }, result } };
}
