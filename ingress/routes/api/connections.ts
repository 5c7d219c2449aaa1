import { findConnection, listConnections } from '../../../shared/db/stores/connections/list.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { ConnectionDetail, ConnectionList } from '../../../shared/schemas/connections.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const listOwnConnections = endpoint('user', {
  operationId: 'listOwnConnections',
  tag: 'Own connections',
  summary: 'The connections to the account, the newest first',
  errors: [],
  status: 200,
  response: ConnectionList,
}).handle(async ({ user }, { em }: Parts) => ({
  body: { results: await listConnections(em(), user.id) },
}));

export const readOwnConnection = endpoint('user', {
  operationId: 'readOwnConnection',
  tag: 'Own connections',
  summary: 'A connection, and what the app used it for in the last 35 days',
  inTurn: 'memory',
  params: { id: 'uuid' },
  errors: ['not_found'],
  status: 200,
  response: ConnectionDetail,
}).handle(async ({ user, params }, { em }: Parts) => {
  const connection = await findConnection(em(), user.id, params.id);
  if (connection === undefined) throw new AppError('not_found');
  return { body: connection };
});

export const revokeOwnConnection = endpoint('user', {
  operationId: 'revokeOwnConnection',
  tag: 'Own connections',
  summary: 'End a connection',
  inTurn: 'account',
  params: { id: 'uuid' },
  errors: ['not_found'],
  status: 204,
}).handle(async ({ user, params }, { revokeOwnConnection }: Parts) => {
  await revokeOwnConnection({ id: params.id, accountId: user.id });
  return {};
});
