import { listConnections, readConnection } from '../../../shared/db/stores/connections/list.ts';
import { ConnectionDetail, ConnectionList } from '../../../shared/schemas/connections.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const listOwnConnections = endpoint('user', {
  operationId: 'listOwnConnections',
  tag: 'Own connections',
  summary: 'The connections to the account, the newest first',
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
  response: ConnectionDetail,
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: await readConnection(em(), user.id, params.id),
}));

export const revokeOwnConnection = endpoint('user', {
  operationId: 'revokeOwnConnection',
  tag: 'Own connections',
  scopes: [],
  summary: 'End a connection',
  inTurn: 'account',
  params: { id: 'uuid' },
  status: 204,
}).handle(async ({ user, params }, { revokeConnection }: Parts) => {
  await revokeConnection({ id: params.id, account: user.id });
  return {};
});
