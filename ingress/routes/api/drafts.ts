import { hasScope, type UserPrincipal } from '../../../shared/domain/account.ts';
import { DraftRequest, DraftResponse } from '../../../shared/schemas/drafts.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import { type Answer, endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const predictDraft = endpoint('user', {
  operationId: 'predictDraft',
  scopes: ['predict'],
  tag: 'Replies',
  summary: 'Predict what the person types next, without an app',
  description: `What a connected app would get from \`/v1/predictions\`, for the account itself, and how it came about: what was sent to the
model, which memory was used (\`sent\` and \`context\`: both are left out for a key without \`read\`), and the time of each stage. Costs no
unit. No text of it is stored for longer than the recovery window; it is cancelled when its caller leaves.`,
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
}).handle(({ user, body, signal }, { drafts }: Parts) => answer(user, drafts.predict(user.id, body, signal)));

/** Awaits the prediction outside the handler, so that the request body can be garbage-collected meanwhile. */
async function answer(
  user: UserPrincipal,
  prediction: Promise<DraftResponse>,
): Promise<Answer<DraftResponse>> {
  const { sent, context, ...rest } = await prediction;
  return { body: hasScope(user, ['read']) ? { ...rest, sent, context } : rest };
}
