import { messages } from './generated/errors.ts';

/** The server's error codes, and the client's codes for calls that got no usable answer. */
export type ErrorCode =
  | keyof typeof messages
  /** 422: `fields` lists what is wrong. */
  | 'validation_error'
  /** No answer came, or only a part of one. */
  | 'network_error'
  /** The call took longer than its `timeoutMs`. */
  | 'timeout'
  /** Something other than Forecue answered: a proxy, a login page. */
  | 'unexpected_response';

/** A faulty field of a request, and its first fault. */
export interface FieldFault {
  loc: (string | number)[];
  msg: string;
  type: string;
  ctx?: object;
}

/**
 * Remedy: `retry` later, get a new credential (`authenticate`), a larger plan (`upgrade`) or a new connection
 * (`connect`), repeat under a new id (`new_id`), change the request (`fix_request`), or tell the people who run the
 * server (`report`).
 */
export type Remedy = 'retry' | 'authenticate' | 'upgrade' | 'connect' | 'new_id' | 'fix_request' | 'report';

/** Codes after which the same request can succeed later. */
const RETRYABLE: readonly ErrorCode[] = [
  'network_error',
  'timeout',
  'rate_limited',
  'overloaded',
  'service_unavailable',
  'request_in_flight',
  'request_timeout',
  'provider_rate_limited',
  'provider_failed',
  'prediction_timeout',
  'job_timeout',
];

const REMEDIES: Partial<Record<ErrorCode, Remedy>> = {
  sandbox_exhausted: 'upgrade',
  monthly_cap_reached: 'upgrade',
  quota_exceeded: 'upgrade',
  invalid_app_key: 'authenticate',
  not_authenticated: 'authenticate',
  token_expired: 'authenticate',
  invalid_credentials: 'authenticate',
  fresh_login_required: 'authenticate',
  connection_revoked: 'connect',
  connection_attempt_expired: 'connect',
  idempotency_conflict: 'new_id',
  event_conflict: 'new_id',
  recovery_window_expired: 'new_id',
  prediction_cancelled: 'new_id',
  prediction_superseded: 'new_id',
  job_cancelled: 'new_id',
  internal_error: 'report',
  provider_not_configured: 'report',
  feature_disabled: 'report',
  unexpected_response: 'report',
};

interface ErrorDetails {
  status?: number;
  message?: string;
  requestId?: string | null;
  retryAfter?: number | undefined;
  fields?: FieldFault[];
  cause?: unknown;
}

/** Failure of a call. Contains no value that was sent. */
export class ForecueError extends Error {
  override readonly name = 'ForecueError';
  readonly code: ErrorCode;
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** `X-Request-Id` of the answer: give it to the people who run the server. */
  readonly requestId: string | undefined;
  /** Seconds after which to try again, if the server says so. */
  readonly retryAfter: number | undefined;
  /** Faults by field, for a `validation_error`. */
  readonly fields: readonly FieldFault[];

  constructor(
    code: ErrorCode,
    { status = 0, message, requestId, retryAfter, fields = [], cause }: ErrorDetails = {},
  ) {
    super(message ?? explanationOf(code), { cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId ?? undefined;
    this.retryAfter = retryAfter;
    this.fields = fields;
  }

  get remedy(): Remedy {
    return RETRYABLE.includes(this.code) ? 'retry' : (REMEDIES[this.code] ?? 'fix_request');
  }
}

export async function errorOf(response: Response): Promise<ForecueError> {
  const facts = {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfter: retryAfterOf(response.headers),
  };
  const detail = detailOf(await response.text());
  if (Array.isArray(detail)) {
    const fields = detail.map(({ loc, msg, type, ctx }: FieldFault) => ({
      loc,
      msg,
      type,
      ...(ctx && { ctx }),
    }));
    const message = fields.map(({ loc, msg }) => `${loc.slice(1).join('.') || loc[0]}: ${msg}`).join('; ');
    return new ForecueError('validation_error', { ...facts, message, fields });
  }
  if (detail === undefined) {
    const message = `answered ${response.status}, and not as Forecue does`;
    return new ForecueError('unexpected_response', { ...facts, message });
  }
  const { code, message } = detail;
  return new ForecueError(code, { ...facts, ...(message !== undefined && { message }) });
}

/** Builds the error from the data of an `error` event in a job's stream. */
export function errorOfEvent({ detail }: { detail: { code: ErrorCode; message: string } }): ForecueError {
  return new ForecueError(detail.code, { status: 200, message: detail.message });
}

function explanationOf(code: ErrorCode): string {
  return code in messages ? messages[code as keyof typeof messages] : code.replaceAll('_', ' ');
}

/** Returns undefined if the body is not Forecue's. */
function detailOf(text: string): { code: ErrorCode; message?: string } | FieldFault[] | undefined {
  try {
    const { detail } = JSON.parse(text);
    const isForecues = Array.isArray(detail) ? detail.every(isFieldFault) : typeof detail?.code === 'string';
    return isForecues ? detail : undefined;
  } catch {
    return undefined;
  }
}

function isFieldFault(value: Partial<FieldFault> | null): boolean {
  return Array.isArray(value?.loc) && value.loc.length > 0 && typeof value.msg === 'string';
}

/** Returns seconds. A proxy may send a date, which is compared with the answer's `Date` header. */
function retryAfterOf(headers: Headers): number | undefined {
  const header = headers.get('retry-after');
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const sent = Date.parse(headers.get('date') ?? '');
  const seconds = (Date.parse(header) - (Number.isNaN(sent) ? Date.now() : sent)) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}
