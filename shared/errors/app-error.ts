import { catalogue, type ErrorCode, type ErrorEntry, type ErrorSource } from './catalogue.ts';

/**
 * An error that a caller may see: a code of the catalogue, nothing else. The cause is for the log alone.
 * Only `ingress/middleware/errors.ts` turns it into an HTTP response.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly source: ErrorSource;
  readonly retryAfterS: number | undefined;

  constructor(
    code: ErrorCode,
    options: { cause?: unknown; source?: ErrorSource; retryAfterS?: number } = {},
  ) {
    super(code, { cause: options.cause });
    this.name = 'AppError';
    const entry: ErrorEntry = catalogue[code];
    this.code = code;
    this.source = options.source ?? entry.source;
    this.retryAfterS = options.retryAfterS ?? entry.retryAfterS;
  }

  get status(): number {
    return catalogue[this.code].status;
  }
}
