import { forgetMany } from '../../../../shared/db/stores/memory/forget-many.ts';
import {
  FORGOTTEN_AT_ONCE_MAX,
  ForgetReceipt,
  ForgetRequest,
} from '../../../../shared/schemas/forgetting.ts';
import { endpoint } from '../../../http/endpoint.ts';
import type { Parts } from '../../parts.ts';

export const forgetMemory = endpoint('user', {
  operationId: 'forgetMemory',
  changes: 'memory',
  scopes: ['forget'],
  tag: 'Memory',
  inTurn: 'memory',
  summary: `Forget up to ${FORGOTTEN_AT_ONCE_MAX} rows of a tier, with one receipt`,
  description:
    'All or none, as if each were deleted by itself. What is not there is left out, so it is safe to repeat.',
  body: ForgetRequest,
  response: ForgetReceipt,
}).handle(async ({ user, body }, { em }: Parts) => ({ body: await forgetMany(em(), user.id, body) }));
