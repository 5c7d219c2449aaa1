import {
  ConnectionExchangeRequest,
  ConnectionExchangeResponse,
  ConnectionStartRequest,
  ConnectionStartResponse,
  RevokeResponse,
} from '../../../shared/schemas/connections.ts';
import { SubjectRequest } from '../../../shared/schemas/predictions.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const startConnection = endpoint('app', {
  operationId: 'startConnection',
  tag: 'Connections',
  summary: 'Start to connect a user of the app',
  description:
    'Send the person to `authorize_url`, where they approve or deny; they come back to `redirect_uri`.',
  body: ConnectionStartRequest,
  keepsBody: true,
  errors: ['feature_disabled', 'invalid_redirect_uri'],
  response: ConnectionStartResponse,
}).handle(async ({ body, app, signal }, { connections }: Parts) => ({
  body: await connections.start(app, body, signal),
}));

export const exchangeConnection = endpoint('app', {
  operationId: 'exchangeConnection',
  tag: 'Connections',
  summary: 'Exchange the returned code for a connection',
  description: 'A repeated call gets the same answer until the attempt and the code have expired.',
  body: ConnectionExchangeRequest,
  keepsBody: true,
  errors: [
    'feature_disabled',
    'not_found',
    'connection_attempt_expired',
    'authorization_pending',
    'access_denied',
    'invalid_grant',
    'connection_revoked',
  ],
  response: ConnectionExchangeResponse,
}).handle(async ({ body, app }, { connections }: Parts) => ({
  body: await connections.exchange(app, body),
}));

export const revokeConnection = endpoint('app', {
  operationId: 'revokeConnection',
  tag: 'Connections',
  summary: 'End a connection',
  params: { connection_id: 'uuid' },
  body: SubjectRequest,
  keepsBody: true,
  errors: ['access_denied'],
  response: RevokeResponse,
}).handle(async ({ body, params, app, signal }, { connections }: Parts) => {
  await connections.revoke(app, { id: params.connection_id, userId: body.user_id }, signal);
  return { body: { status: 'revoked' } };
});
