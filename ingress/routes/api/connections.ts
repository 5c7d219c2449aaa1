import type { EntityManager } from '@mikro-orm/postgresql';
import { listConnections } from '../../../shared/db/stores/connections/list.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { ConnectionList } from '../../../shared/schemas/connections.ts';
import type { EndingStores } from '../../ending-stores.ts';
import { type Endpoint, endpoint } from '../../endpoint.ts';

export interface OwnConnectionRoutes extends Pick<EndingStores, 'revokeOwnConnection'> {
  em: () => EntityManager;
}

/** What a person sees and ends of the apps that may use their memory. */
export function ownConnectionEndpoints({ em, revokeOwnConnection }: OwnConnectionRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/connections/',
      operationId: 'listOwnConnections',
      tag: 'Own connections',
      summary: 'The connections to the account, the newest first',
      auth: 'user',
      errors: [],
      status: 200,
      response: ConnectionList,
    }).handle(async ({ user }) => ({ body: { results: await listConnections(em(), user.id) } })),

    endpoint({
      method: 'DELETE',
      path: '/api/connections/:id/',
      operationId: 'revokeOwnConnection',
      tag: 'Own connections',
      summary: 'End a connection',
      params: { id: 'uuid' },
      auth: 'user',
      errors: ['not_found'],
      status: 204,
    }).handle(async ({ user, params }) => {
      const revoked = await revokeOwnConnection({ id: params.id, accountId: user.id });
      if (revoked === undefined) throw new AppError('not_found');
      return {};
    }),
  ];
}
