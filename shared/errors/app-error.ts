import { catalogue, type ErrorCode, type ErrorEntry, type ErrorSource } from './catalogue.ts';

/**
 * An error that callers may see. They see a code of the catalogue with its explanation; the cause is only logged. Only
 * `ingress/http/errors.ts` turns it into an HTTP response.
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
