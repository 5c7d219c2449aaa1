import { listGrants, narrowGrant, revokeGrant } from '../../../shared/db/stores/grants.ts';
import { GrantChange, GrantList, GrantResponse } from '../../../shared/schemas/accounts.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import { presentGrant } from '../../accounts/present.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

const changing = { tag: 'Accounts', scopes: [], inTurn: 'account', changes: 'connections' } as const;

export const listOwnGrants = endpoint('user', {
  operationId: 'listOwnGrants',
  tag: 'Accounts',
  summary: 'The programs that have logged in to the account by OAuth, the latest used first',
  response: GrantList,
}).handle(async ({ user }, { em }: Parts) => ({
  body: { results: (await listGrants(em(), user.id)).map(presentGrant) },
}));

export const narrowOwnGrant = endpoint('user', {
  ...changing,
  operationId: 'narrowOwnGrant',
  summary: 'Leave a program fewer scopes',
  description:
    'Holds within two seconds. A scope that the program does not have is 422: it has to ask again.',
  params: { id: 'uuid' },
  body: GrantChange,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  response: GrantResponse,
}).handle(async ({ user, params, body }, { em }: Parts) => ({
  body: presentGrant(await narrowGrant(em(), user.id, params.id, body.scopes)),
}));

export const revokeOwnGrant = endpoint('user', {
  ...changing,
  operationId: 'revokeOwnGrant',
  summary: 'End what a program may do',
  params: { id: 'uuid' },
  status: 204,
}).handle(async ({ user, params }, { em }: Parts) => {
  await revokeGrant(em(), user.id, params.id);
});
