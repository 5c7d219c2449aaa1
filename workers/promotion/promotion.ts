import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkerConfig } from '../../shared/config/config.ts';
import type { JobReport, Steps } from '../../shared/domain/jobs.ts';
import type { End } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import type { PromoteResult } from '../../shared/schemas/memory-jobs.ts';
import type { Provider, Usage } from '../providers/provider.ts';

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

/** The progress with what an answer has cost, and the time since the last one. */
export function spent<Progress extends PromotionProgress>(
  progress: Progress,
  { inputTokens, outputTokens }: Usage,
  ms: number,
): Progress {
  const { usage, latency_ms } = progress;
  return {
    ...progress,
    usage: {
      input_tokens: usage.input_tokens + inputTokens,
      output_tokens: usage.output_tokens + outputTokens,
    },
    latency_ms: latency_ms + Math.round(ms),
  };
}

/** Measures the time from one call to the next, in milliseconds; the first time from now on. */
export function laps(): () => number {
  let last = performance.now();
  return () => {
    const from = last;
    last = performance.now();
    return last - from;
  };
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** The end of a promotion that has nothing left to do but what is set aside: so many rows. */
export function succeeded(
  { steps, created, updated, skipped, considered, ids, model, usage, latency_ms }: PromotionProgress,
  setAside: number,
): End<JobReport<PromoteResult>> {
  const counts = { created, updated, skipped: skipped + setAside, considered: considered + setAside };
  const result = { ...counts, ids, model, usage, latency_ms };
  return { state: 'succeeded', report: { steps: { done: steps.total, total: steps.total }, result } };
}
