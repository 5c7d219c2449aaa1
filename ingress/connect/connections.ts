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
  /** Runs an app's changes one at a time. Otherwise each would hold a database connection while it waits for a lock. */
  takeTurn: TakeTurn;
  publicUrl: string;
  connectionAttemptTtlS: number;
}

/** Serves `/v1/connections`. An app without the feature `connections` can still revoke connections. */
export class ConnectionService {
  readonly #parts: ConnectionParts;
  readonly #sharedExchange = singleFlight<ExchangeResult>(isMismatch);

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
    const { stores, takeTurn } = this.#parts;
    const name = `${app.id} ${canonicalJson(request)}`;
    // Passes no signal: callers share the exchange, so it goes on when one of them disconnects.
    const { answer } = await this.#sharedExchange(name, () =>
      takeTurn({ party: app.id }, () => stores.exchange(app.id, request)),
    );
    return answer;
  }

  /** Throws `overloaded`, and the errors of the store. */
  async revoke(
    app: AppPrincipal,
    { id, userId }: { id: string; userId: string },
    gone: AbortSignal,
  ): Promise<void> {
    const { stores, takeTurn } = this.#parts;
    await takeTurn({ party: app.id, gone }, () => stores.revokeConnection({ id, appId: app.id, userId }));
  }
}

/** Recognises a wrong code or verifier. Callers do not share this failure, because each attempt must be counted. */
function isMismatch(failure: unknown): boolean {
  return failure instanceof AppError && failure.code === 'invalid_grant';
}

/**
 * Lets concurrent calls with the same key share one run of `work`, and its result or failure. They do not share a
 * failure for which `isOwn` is true: then one of the waiting calls runs its `work`, and the others wait again.
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
