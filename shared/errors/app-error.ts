import { catalogue, type ErrorCode, type ErrorEntry, type ErrorSource } from './catalogue.ts';

/**
 * An error that callers may see: its code of the catalogue and, on `/api` and at the tool server, its explanation, but
 * never its cause.
 * `ingress/http/errors.ts` sets the status and headers of the HTTP response.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly source: ErrorSource;
  readonly retryAfterS: number | undefined;
  /** The sentence for people: by default, the catalogue's. */
  readonly explanation: string;

  constructor(
    code: ErrorCode,
    options: { cause?: unknown; source?: ErrorSource; retryAfterS?: number; explanation?: string } = {},
  ) {
    super(code, { cause: options.cause });
    this.name = 'AppError';
    const entry: ErrorEntry = catalogue[code];
    this.code = code;
    this.source = options.source ?? entry.source ?? 'ingress';
    this.retryAfterS = options.retryAfterS ?? entry.retryAfterS ?? undefined;
    this.explanation = options.explanation ?? entry.message;
  }
}
