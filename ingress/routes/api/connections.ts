import { changeConnection } from '../../../shared/db/stores/connections/change.ts';
import { listConnections, readConnection } from '../../../shared/db/stores/connections/list.ts';
import { ConnectionChange, ConnectionDetail, ConnectionList } from '../../../shared/schemas/connections.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

const changing = {
  tag: 'Own connections',
  scopes: [],
  inTurn: 'account',
  changes: 'connections',
} as const;

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

export const changeOwnConnection = endpoint('user', {
  ...changing,
  operationId: 'changeOwnConnection',
  summary: 'Change what an app may use, and until when',
  description:
    'Holds from the next prediction on. With the memory `facts`, predictions use the profile and the facts only; with ' +
    '`projects`, only what was said in these. At ' +
    '`ends_at` the connection is revoked. A connection that is revoked or has ended is 403 `connection_revoked`.',
  params: { id: 'uuid' },
  body: ConnectionChange,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['connection_revoked'],
  response: ConnectionDetail,
}).handle(async ({ user, params, body }, { em }: Parts) => {
  await changeConnection(em(), user.id, params.id, body);
  return { body: await readConnection(em(), user.id, params.id) };
});

export const revokeOwnConnection = endpoint('user', {
  ...changing,
  operationId: 'revokeOwnConnection',
  summary: 'End a connection',
  params: { id: 'uuid' },
  status: 204,
}).handle(async ({ user, params }, { revokeConnection }: Parts) => {
  await revokeConnection({ id: params.id, account: user.id });
});
