/** `source` is sent as `X-Error-Source`. The row of a failed prediction may name another source. */
export interface ErrorEntry {
  status: number;
  /** Status on `/api`, if it differs. */
  apiStatus?: number;
  /** By default, the ingress. */
  source?: ErrorSource;
  /** One sentence for people, shown on `/api`. */
  message: string;
  /**
   * Seconds to wait before a retry, unless the thrown error states others. Null: only the thrown error may state them.
   * Undefined: a retry does not help.
   */
  retryAfterS?: number | null;
}

export type ErrorSource = 'ingress' | 'worker' | 'provider';

export const catalogue = {
  /** The name of this code is from RFC 6750, section 3.1. */
  invalid_request: {
    status: 400,
    message:
      'Send HTTP/1.1, and the headers Host, Authorization and Idempotency-Key once only, the last with at most 200 characters.',
  },
  invalid_json: {
    status: 400,
    message: 'The body is not valid JSON in UTF-8.',
  },
  invalid_content_type: {
    status: 400,
    message: 'Send the body as application/json in UTF-8, plain or compressed with gzip.',
  },
  invalid_month: { status: 400, message: 'A month is written YYYY-MM.' },
  invalid_redirect_uri: { status: 400, message: "The redirect URI is not one of the app's registered ones." },
  invalid_grant: {
    status: 400,
    message: 'The code, the verifier, the user or the redirect URI do not belong to this attempt.',
  },
  authorization_pending: { status: 400, message: 'The person has not decided yet.' },
  invalid_app_key: { status: 401, message: 'The app key is missing, wrong or no longer valid.' },
  not_authenticated: {
    status: 401,
    message: 'Send a valid access token in Authorization: Bearer, or a key in X-Service-API-Key.',
  },
  token_expired: { status: 401, message: 'The token has expired; renew it or log in again.' },
  invalid_credentials: { status: 401, message: 'The e-mail address or the password is wrong.' },
  sandbox_exhausted: { status: 402, message: 'The sandbox units of this month are used up.' },
  monthly_cap_reached: { status: 402, message: 'The monthly spending cap is reached.' },
  access_denied: { status: 403, message: 'This is not allowed.' },
  fresh_login_required: {
    status: 403,
    message: 'Log in again first: this needs a log-in of the last ten minutes.',
  },
  connection_revoked: { status: 403, message: 'The connection was revoked.' },
  invite_required: { status: 403, message: 'Signing up needs an invite code that was not used yet.' },
  quota_exceeded: {
    status: 403,
    message: "A quota is exceeded: of keys, of what the account stores, or of a day's tokens.",
    retryAfterS: null,
  },
  not_found: { status: 404, message: 'There is nothing at this address.' },
  feature_disabled: { status: 404, message: 'This feature is turned off for the app.' },
  method_not_allowed: {
    status: 405,
    message: 'This address does not take this method; the Allow header lists those that it takes.',
  },
  request_timeout: { status: 408, message: 'The request took too long to arrive.' },
  idempotency_conflict: { status: 409, message: 'This id was used before with another body.' },
  request_in_flight: { status: 409, message: 'The same request is still running.', retryAfterS: 1 },
  context_revision_conflict: { status: 409, message: 'A newer revision of this draft was seen before.' },
  event_conflict: { status: 409, message: 'This event id was used before for another event.' },
  email_taken: { status: 409, message: 'An account with this e-mail address exists.' },
  recovery_window_expired: {
    status: 410,
    message: 'The time in which this answer could be asked for again is over.',
  },
  connection_attempt_expired: { status: 410, message: 'The time for this connection attempt is over.' },
  body_too_large: {
    status: 413,
    message: 'The body is too large, is nested too deeply or has too many values.',
  },
  context_too_large: { status: 413, message: 'The texts together are longer than the limit.' },
  uri_too_long: { status: 414, message: 'The URL is too long.' },
  expectation_failed: { status: 417, message: 'The only expectation met is 100-continue.' },
  rate_limited: {
    status: 429,
    message: 'Too many requests; try again after the seconds in Retry-After.',
    retryAfterS: 1,
  },
  headers_too_large: { status: 431, message: 'The headers together are too long.' },
  prediction_cancelled: { status: 499, message: 'The prediction was cancelled.' },
  job_cancelled: { status: 499, message: 'The job was cancelled.' },
  prediction_superseded: { status: 499, message: 'A newer draft took the place of this one.' },
  internal_error: { status: 500, message: 'Something went wrong on our side; tell us the X-Request-Id.' },
  provider_failed: {
    status: 502,
    source: 'provider',
    message: 'The language-model provider gave no usable answer.',
    retryAfterS: null,
  },
  overloaded: {
    status: 503,
    message: 'Too much is waiting at the moment; try again after the seconds in Retry-After.',
    retryAfterS: 1,
  },
  service_unavailable: {
    status: 503,
    message: 'The service is not available at the moment; try again after the seconds in Retry-After.',
    retryAfterS: 1,
  },
  provider_not_configured: {
    status: 503,
    source: 'provider',
    message: "The language-model provider's key is missing or refused.",
    retryAfterS: 60,
  },
  provider_rate_limited: {
    status: 503,
    apiStatus: 429,
    source: 'provider',
    message: "The language-model provider's rate limit is reached.",
    retryAfterS: 5,
  },
  job_timeout: { status: 504, source: 'worker', message: 'The job took too long.' },
  prediction_timeout: { status: 504, source: 'worker', message: 'The prediction took too long.' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof catalogue;

export function statusOf(code: ErrorCode, surface: string): number {
  const { status, apiStatus = status }: ErrorEntry = catalogue[code];
  return surface === 'api' ? apiStatus : status;
}
