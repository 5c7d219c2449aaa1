import type { EntityManager } from '@mikro-orm/postgresql';
import { startAttempt } from '../../../shared/db/stores/connections/attempts.ts';
import type { Exchanged } from '../../../shared/db/stores/connections/exchange.ts';
import type { AppPrincipal } from '../../../shared/domain/app.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import {
  ConnectionExchangeRequest,
  ConnectionExchangeResponse,
  ConnectionStartRequest,
  ConnectionStartResponse,
  RevokeResponse,
} from '../../../shared/schemas/connections.ts';
import { UUID } from '../../../shared/schemas/limits.ts';
import { SubjectRequest } from '../../../shared/schemas/predictions.ts';
import { canonicalJson } from '../../../shared/security/fingerprint.ts';
import type { EndingStores } from '../../ending-stores.ts';
import { type Endpoint, endpoint } from '../../endpoint.ts';
import { singleFlight } from '../../single-flight.ts';

export interface ConnectionRoutes extends Pick<EndingStores, 'exchange' | 'revokeConnection'> {
  em: () => EntityManager;
  publicUrl: string;
  connectionAttemptTtlS: number;
}

export function connectionEndpoints(parts: ConnectionRoutes): Endpoint[] {
  const { em, exchange, revokeConnection, publicUrl, connectionAttemptTtlS } = parts;
  // Only what succeeds is shared: each wrong exchange counts.
  const together = singleFlight<Exchanged>((exchanged) => 'answer' in exchanged);
  return [
    endpoint({
      method: 'POST',
      path: '/v1/connections',
      operationId: 'startConnection',
      tag: 'Connections',
      summary: 'Start to connect a user of the app',
      description:
        'Send the person to `authorize_url`, where they approve or deny; they come back to `redirect_uri`.',
      auth: 'app',
      body: ConnectionStartRequest,
      errors: ['feature_disabled', 'invalid_redirect_uri'],
      status: 200,
      response: ConnectionStartResponse,
    }).handle(async ({ body, app }) => {
      checkFeature(app);
      const started = await startAttempt(em(), {
        appId: app.id,
        userId: body.user_id,
        redirectUri: body.redirect_uri,
        state: body.state,
        codeChallenge: body.code_challenge,
        ttlS: connectionAttemptTtlS,
      });
      if (started === undefined) throw new AppError('invalid_redirect_uri');
      const { id, expiresAt } = started;
      return { body: { request_id: id, expires_at: expiresAt, authorize_url: `${publicUrl}/connect/${id}` } };
    }),

    endpoint({
      method: 'POST',
      path: '/v1/connections/exchange',
      operationId: 'exchangeConnection',
      tag: 'Connections',
      summary: 'Exchange the code that came back for a connection',
      description: 'Repeated, it answers the same until attempt and code have expired.',
      auth: 'app',
      body: ConnectionExchangeRequest,
      errors: [
        'feature_disabled',
        'not_found',
        'connection_attempt_expired',
        'authorization_pending',
        'access_denied',
        'invalid_grant',
        'connection_revoked',
      ],
      status: 200,
      response: ConnectionExchangeResponse,
    }).handle(async ({ body, app }) => {
      checkFeature(app);
      if (!UUID.test(body.request_id)) throw new AppError('not_found');
      const exchanged = await together(`${app.id} ${canonicalJson(body)}`, () => exchange(app.id, body));
      if ('refusal' in exchanged) throw new AppError(exchanged.refusal);
      return { body: exchanged.answer };
    }),

    endpoint({
      method: 'POST',
      path: '/v1/connections/:connection_id/revoke',
      operationId: 'revokeConnection',
      tag: 'Connections',
      summary: 'End a connection',
      params: { connection_id: 'uuid' },
      auth: 'app',
      body: SubjectRequest,
      errors: ['not_found', 'access_denied'],
      status: 200,
      response: RevokeResponse,
    }).handle(async ({ body, params, app }) => {
      const connection = { id: params.connection_id, appId: app.id, userId: body.user_id };
      const revoked = await revokeConnection(connection);
      if (typeof revoked === 'string') throw new AppError(revoked);
      return { body: { status: 'revoked' } };
    }),
  ];
}

/** What exists can be revoked also when no more are to be made. */
function checkFeature(app: AppPrincipal): void {
  if (app.disabled.includes('connections')) throw new AppError('feature_disabled');
}
