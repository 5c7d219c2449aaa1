import type { EntityManager } from '@mikro-orm/postgresql';
import type { Static } from 'typebox';
import { startAttempt } from '../../shared/db/stores/connections/attempts.ts';
import { type AppPrincipal, checkFeatures } from '../../shared/domain/app.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type {
  ConnectionExchangeRequest,
  ConnectionStartRequest,
  ConnectionStartResponse,
} from '../../shared/schemas/connections.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import type { TakeTurn } from '../guards/account-turns.ts';
import type { ConnectionChanges } from './connection-changes.ts';

interface ConnectionParts {
  em: () => EntityManager;
  changes: Pick<ConnectionChanges, 'exchange' | 'revokeConnection'>;
  /** Runs an app's changes one at a time. Otherwise each would hold a database connection while it waits for a lock. */
  takeTurn: TakeTurn;
  publicUrl: string;
  connectionAttemptTtlS: number;
}

/** Serves `/v1/connections`. An app without the feature `connections` can still revoke connections. */
export class ConnectionService {
  readonly #parts: ConnectionParts;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** Throws `feature_disabled`, `overloaded`, `rate_limited`, or `invalid_redirect_uri` for an unregistered URI. */
  async start(
    app: AppPrincipal,
    request: Static<typeof ConnectionStartRequest>,
    gone: AbortSignal,
  ): Promise<Static<typeof ConnectionStartResponse>> {
    const { em, takeTurn, publicUrl, connectionAttemptTtlS } = this.#parts;
    checkFeatures(app, 'connections');
    const attempt = {
      appId: app.id,
      userId: request.user_id,
      redirectUri: request.redirect_uri,
      state: request.state,
      codeChallenge: request.code_challenge,
      ttlS: connectionAttemptTtlS,
    };
    const { id, expiresAt } = await takeTurn({ party: app.id, gone }, () => startAttempt(em(), attempt));
    return { request_id: id, expires_at: expiresAt, authorize_url: `${publicUrl}/connect/${id}` };
  }

  /** Returns the answer as JSON. Throws `feature_disabled`, `not_found`, `overloaded`, and the errors of the store. */
  async exchange(app: AppPrincipal, request: ConnectionExchangeRequest): Promise<string> {
    checkFeatures(app, 'connections');
    if (!UUID.test(request.request_id)) throw new AppError('not_found');
    const { changes, takeTurn } = this.#parts;
    const exchange = () => changes.exchange(app.id, request);
    // Passes no signal: an exchange whose caller has disconnected makes the grant that a repetition returns.
    const { answer } = await takeTurn({ party: app.id }, exchange);
    return answer;
  }

  /** Throws `overloaded`, and the errors of the store. */
  async revoke(
    app: AppPrincipal,
    { id, userId }: { id: string; userId: string },
    gone: AbortSignal,
  ): Promise<void> {
    const { changes, takeTurn } = this.#parts;
    await takeTurn({ party: app.id, gone }, () => changes.revokeConnection({ id, app: app.id, userId }));
  }
}
