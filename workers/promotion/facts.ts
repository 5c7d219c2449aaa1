import { progressOf } from '../../shared/db/stores/work/progress.ts';
import type { PromoteInput } from '../../shared/schemas/memory-jobs.ts';
import type { promoteFacts } from '../../shared/work/kinds.ts';
import type { Handler } from '../work/handler.ts';
import { begun, type PromotionParts, type PromotionProgress, succeeded } from './promotion.ts';

/** Promotes nothing yet. */
export function createPromoteFacts({ em, settings }: PromotionParts): Handler<typeof promoteFacts> {
  return async (claim) => {
    const { model = settings.defaultModel } = JSON.parse(claim.input) as PromoteInput;
    const progress = (await progressOf<PromotionProgress>(em(), claim)) ?? begun(model);
    return succeeded(progress);
  };
}
