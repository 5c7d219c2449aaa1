/** Generated from docs/openapi.json by client/generate.ts: `npm run openapi`. */
import type { CallOptions } from '../transport.ts';
import type * as schemas from './schemas.ts';

export interface V1Methods {
  /** Start to connect a user of the app. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_redirect_uri`, `invalid_app_key`, `feature_disabled`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  startConnection(body: schemas.ConnectionStartRequest, options?: CallOptions): Promise<schemas.ConnectionStartResponse>;
  /** Exchange the returned code for a connection. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_grant`, `authorization_pending`, `invalid_app_key`, `access_denied`, `connection_revoked`, `not_found`, `feature_disabled`, `connection_attempt_expired`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  exchangeConnection(body: schemas.ConnectionExchangeRequest, options?: CallOptions): Promise<schemas.ConnectionExchangeResponse>;
  /** End a connection. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  revokeConnection(connection_id: string, body: schemas.SubjectRequest, options?: CallOptions): Promise<schemas.RevokeResponse>;
  /** Predict what the person will type next. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `sandbox_exhausted`, `monthly_cap_reached`, `access_denied`, `connection_revoked`, `not_found`, `feature_disabled`, `idempotency_conflict`, `request_in_flight`, `context_revision_conflict`, `recovery_window_expired`, `body_too_large`, `context_too_large`, `rate_limited`, `prediction_cancelled`, `prediction_superseded`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `provider_rate_limited`, `prediction_timeout`. */
  predict(body: schemas.PredictionRequest, options?: CallOptions): Promise<schemas.PredictionResponse>;
  /** Cancel a prediction, or learn how it ended. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  cancelPrediction(request_id: string, body: schemas.SubjectRequest, options?: CallOptions): Promise<schemas.CancelResponse>;
  /** Report what became of a prediction. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `request_in_flight`, `event_conflict`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  recordPredictionEvent(body: schemas.PredictionEventRequest, options?: CallOptions): Promise<schemas.PredictionEventResponse>;
  /** What the app used in a month. Errors: `invalid_request`, `invalid_month`, `invalid_app_key`, `rate_limited`, `service_unavailable`. */
  readUsage(query?: { month?: string; }, options?: CallOptions): Promise<schemas.UsageResponse>;
}

export const v1Operations = {
  startConnection: 'POST /v1/connections body',
  exchangeConnection: 'POST /v1/connections/exchange body',
  revokeConnection: 'POST /v1/connections/{connection_id}/revoke body',
  predict: 'POST /v1/predictions body',
  cancelPrediction: 'POST /v1/predictions/{request_id}/cancel body',
  recordPredictionEvent: 'POST /v1/prediction-events body',
  readUsage: 'GET /v1/usage query',
} as const;
