/**
 * Every error code of the product: the HTTP status that it becomes, who is to blame for it, and, where
 * trying again can help, after how many whole seconds.
 *
 * `source` is what `X-Error-Source` says; a failed prediction may override it with the source in its row.
 */
export interface ErrorEntry {
  status: number;
  source: ErrorSource;
  retryAfterS?: number;
}

export type ErrorSource = 'ingress' | 'worker' | 'provider';

export const catalogue = {
  invalid_json: { status: 400, source: 'ingress' },
  invalid_content_type: { status: 400, source: 'ingress' },
  invalid_month: { status: 400, source: 'ingress' },
  invalid_app_key: { status: 401, source: 'ingress' },
  sandbox_exhausted: { status: 402, source: 'ingress' },
  monthly_cap_reached: { status: 402, source: 'ingress' },
  access_denied: { status: 403, source: 'ingress' },
  not_found: { status: 404, source: 'ingress' },
  feature_disabled: { status: 404, source: 'ingress' },
  method_not_allowed: { status: 405, source: 'ingress' },
  idempotency_conflict: { status: 409, source: 'ingress' },
  request_in_flight: { status: 409, source: 'ingress', retryAfterS: 1 },
  context_revision_conflict: { status: 409, source: 'ingress' },
  recovery_window_expired: { status: 410, source: 'ingress' },
  body_too_large: { status: 413, source: 'ingress' },
  context_too_large: { status: 413, source: 'ingress' },
  prediction_cancelled: { status: 499, source: 'ingress' },
  prediction_superseded: { status: 499, source: 'ingress' },
  internal_error: { status: 500, source: 'ingress' },
  provider_failed: { status: 502, source: 'provider' },
  overloaded: { status: 503, source: 'ingress', retryAfterS: 1 },
  service_unavailable: { status: 503, source: 'ingress', retryAfterS: 1 },
  provider_not_configured: { status: 503, source: 'provider', retryAfterS: 60 },
  provider_rate_limited: { status: 503, source: 'provider', retryAfterS: 5 },
  prediction_timeout: { status: 504, source: 'worker' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof catalogue;
