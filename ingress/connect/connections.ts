import type { EntityManager } from '@mikro-orm/postgresql';
import type { Static } from 'typebox';
import { startAttempt } from '../../shared/db/stores/connections/attempts.ts';
import type { ExchangeResult } from '../../shared/db/stores/connections/exchange.ts';
import { type AppPrincipal, checkFeatures } from '../../shared/domain/app.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type {
  ConnectionExchangeRequest,
  ConnectionStartRequest,
  ConnectionStartResponse,
} from '../../shared/schemas/connections.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import { canonicalJson } from '../../shared/security/fingerprint.ts';
import type { TakeTurn } from '../guards/account-turns.ts';
import type { EndingStores } from '../work/ending-stores.ts';

interface ConnectionParts {
  em: () => EntityManager;
  stores: Pick<EndingStores, 'exchange' | 'revokeConnection'>;
  /**
   * Runs an app's changes one after the other, so that at most one of them waits for a row of the app, and holds a
   * database connection meanwhile.
   */
  takeTurn: TakeTurn;
  publicUrl: string;
  connectionAttemptTtlS: number;
}

/**
 * Starts and revokes connections of apps, and exchanges their codes. Existing connections can be revoked even while the
 * feature is off.
 */
export class ConnectionService {
  readonly #parts: ConnectionParts;
  readonly #sharedExchange = singleFlight<ExchangeResult>(isMismatch);

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /**
   * Starts an attempt. Throws `feature_disabled`, `overloaded`, `rate_limited`, or `invalid_redirect_uri` when the app
   * did not register the URI.
   */
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

  /**
   * Exchanges a code; returns the rendered answer. Throws `feature_disabled`, `overloaded`, and the errors of the
   * store.
   */
  async exchange(app: AppPrincipal, request: ConnectionExchangeRequest): Promise<string> {
    checkFeatures(app, 'connections');
    if (!UUID.test(request.request_id)) throw new AppError('not_found');
    const { stores, takeTurn } = this.#parts;
    const name = `${app.id} ${canonicalJson(request)}`;
    // Callers share the exchange, so it does not end when one of them disconnects.
    const { answer } = await this.#sharedExchange(name, () =>
      takeTurn({ party: app.id }, () => stores.exchange(app.id, request)),
    );
    return answer;
  }

  /** Ends a connection. Throws `overloaded`, and the errors of the store. */
  async revoke(
    app: AppPrincipal,
    { id, userId }: { id: string; userId: string },
    gone: AbortSignal,
  ): Promise<void> {
    const { stores, takeTurn } = this.#parts;
    await takeTurn({ party: app.id, gone }, () => stores.revokeConnection({ id, appId: app.id, userId }));
  }
}

/**
 * Reports whether a code or verifier was wrong: callers do not share this outcome, because each such attempt has to be
 * counted.
 */
function isMismatch(failure: unknown): boolean {
  return failure instanceof AppError && failure.code === 'invalid_grant';
}

/**
 * Lets concurrent calls with the same key share one run of the work and its outcome, so that a crowd does not queue for
 * the same row with a connection each. After a failure that concerns one caller alone (`isOwn`), the other callers run
 * the work themselves, one at a time.
 */
export function singleFlight<T>(
  isOwn: (failure: unknown) => boolean,
): (key: string, work: () => Promise<T>) => Promise<T> {
  const flights = new Map<string, Promise<T>>();
  return async (key, work) => {
    for (let flight = flights.get(key); flight !== undefined; flight = flights.get(key)) {
      try {
        return await flight;
      } catch (failure) {
        if (!isOwn(failure)) throw failure;
      }
    }
    const flight = work().finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}
