import { PermissionAnswer, PermissionRequest } from '../../../shared/schemas/permissions.ts';
import { endpoint } from '../../http/endpoint.ts';
import { answerPermission } from '../../replies/permissions.ts';
import type { Parts } from '../parts.ts';

export const predictPermission = endpoint('user', {
  operationId: 'predictPermission',
  changes: 'predictions',
  scopes: ['predict'],
  tag: 'Replies',
  summary: 'Does this person allow what an agent is about to do?',
  description: `\`allow\` only with support: two approvals of the like in the same project, five of the very same for what cannot be undone, is
not known, or is asked in the mode \`auto\`. Else \`ask\`: the agent asks the person. Evidence is what the person decided by hand
(\`agent.permission\` events). No model is asked.`,
  body: PermissionRequest,
  response: PermissionAnswer,
}).handle(async ({ user, body }, { em }: Parts) => ({ body: await answerPermission(em(), user, body) }));
