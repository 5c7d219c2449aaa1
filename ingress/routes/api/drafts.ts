import { DraftRequest, DraftResponse } from '../../../shared/schemas/drafts.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import { type Answer, endpoint } from '../../http/endpoint.ts';
import type { DraftService } from '../../predictions/drafts.ts';

export interface DraftRoutes {
  drafts: DraftService;
}

export const predictDraft = endpoint('user', {
  operationId: 'predictDraft',
  scopes: ['predict'],
  tag: 'Replies',
  summary: 'Predict what the person types next, without an app',
  description: `What a connected app would get from \`/v1/predictions\`, for the account itself, and how it came about: what was sent to the
model, which memory was used, and the time of each stage. Costs no unit. Nothing of it is stored for longer than the recovery window; it is
cancelled when its caller leaves.`,
  body: DraftRequest,
  bodyLimit: 4 * MIB,
  errors: [
    'context_too_large',
    'prediction_cancelled',
    'provider_failed',
    'provider_not_configured',
    'provider_rate_limited',
    'overloaded',
    'prediction_timeout',
  ],
  status: 200,
  response: DraftResponse,
}).handle(({ user, body, signal }, { drafts }: DraftRoutes) => answer(drafts.predict(user.id, body, signal)));

/** Apart from the handler, so that the body is not held while the caller waits. */
async function answer(predicted: Promise<DraftResponse>): Promise<Answer<DraftResponse>> {
  return { body: await predicted };
}
