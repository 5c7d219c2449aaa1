import { readsOf } from '../../../shared/db/access-log.ts';
import { hasScope } from '../../../shared/domain/account.ts';
import { DraftRequest, DraftResponse } from '../../../shared/schemas/drafts.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { PREDICTION_ERRORS } from '../../jobs/declaration.ts';
import { requestedProject } from '../../request/headers.ts';
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
  boxesBody: true,
  requestHeaders: ['Forecue-Project'],
  errors: ['context_too_large', 'quota_exceeded', ...PREDICTION_ERRORS],
  response: DraftResponse,
}).handle(async ({ user, body, headers, signal }, { predictDraft }: Parts) => {
  const input = body.map((request) => ({ ...request, project: requestedProject(headers) }));
  const { sent, context, ...rest } = await predictDraft(user.id, input, signal);
  const used = context && {
    profile: context.profile,
    facts: context.fact_ids,
    episodes: context.episode_ids,
    raw: context.raw_ids,
  };
  return {
    body: hasScope(user, ['read']) ? { ...rest, sent, context } : rest,
    ...(used && { read: readsOf(used) }),
  };
});
