import type { EntityManager } from '@mikro-orm/postgresql';
import type { Static } from 'typebox';
import { startAttempt } from '../../shared/db/stores/connections/attempts.ts';
import type { Exchanged } from '../../shared/db/stores/connections/exchange.ts';
import { type AppPrincipal, checkFeatures } from '../../shared/domain/app.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type {
  ConnectionExchangeRequest,
  ConnectionStartRequest,
  ConnectionStartResponse,
} from '../../shared/schemas/connections.ts';
import { UUID } from '../../shared/schemas/limits.ts';
import { canonicalJson } from '../../shared/security/fingerprint.ts';
import type { EndingStores } from '../work/ending-stores.ts';
import { singleFlight } from './single-flight.ts';

interface ConnectionParts {
  em: () => EntityManager;
  exchange: EndingStores['exchange'];
  publicUrl: string;
  connectionAttemptTtlS: number;
}

/** How apps get connections. What exists can be revoked even while the feature is off. */
export class ConnectionService {
  readonly #parts: ConnectionParts;
  /** Only successes are shared: every wrong exchange counts. */
  readonly #together = singleFlight<Exchanged>();

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** Starts an attempt. Throws `feature_disabled`, or `invalid_redirect_uri` when the app did not register the URI. */
  async start(
    app: AppPrincipal,
    request: Static<typeof ConnectionStartRequest>,
  ): Promise<Static<typeof ConnectionStartResponse>> {
    const { em, publicUrl, connectionAttemptTtlS } = this.#parts;
    checkFeatures(app, 'connections');
    const { id, expiresAt } = await startAttempt(em(), {
      appId: app.id,
      userId: request.user_id,
      redirectUri: request.redirect_uri,
      state: request.state,
      codeChallenge: request.code_challenge,
      ttlS: connectionAttemptTtlS,
    });
    return { request_id: id, expires_at: expiresAt, authorize_url: `${publicUrl}/connect/${id}` };
  }

  /** The rendered answer of the exchange. Throws `feature_disabled`, or what the exchange is refused with. */
  async exchange(app: AppPrincipal, request: ConnectionExchangeRequest): Promise<string> {
    checkFeatures(app, 'connections');
    if (!UUID.test(request.request_id)) throw new AppError('not_found');
    const name = `${app.id} ${canonicalJson(request)}`;
    const { answer } = await this.#together(name, () => this.#parts.exchange(app.id, request));
    return answer;
  }
}
