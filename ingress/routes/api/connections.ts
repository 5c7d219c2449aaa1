import type { EntityManager } from '@mikro-orm/postgresql';
import { listConnections } from '../../../shared/db/stores/connections/list.ts';
import { revokeOwnConnection } from '../../../shared/db/stores/connections/revoke.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { ConnectionList } from '../../../shared/schemas/connections.ts';
import { type Endpoint, endpoint } from '../../endpoint.ts';
import type { PredictionService } from '../../prediction-service.ts';

export interface OwnConnectionRoutes {
  em: () => EntityManager;
  predictions: Pick<PredictionService, 'announce'>;
  recoveryWindowS: number;
}

/** What a person sees and ends of the apps that may use their memory. */
export function ownConnectionEndpoints({
  em,
  predictions,
  recoveryWindowS,
}: OwnConnectionRoutes): Endpoint[] {
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
      const revoked = await revokeOwnConnection(em(), { id: params.id, accountId: user.id }, recoveryWindowS);
      if (revoked === undefined) throw new AppError('not_found');
      predictions.announce(revoked.ended);
      return {};
    }),
  ];
}
