import { catalogue, type ErrorCode, type ErrorEntry, type ErrorSource } from './catalogue.ts';

/** Callers get the code and, on `/api` and from the MCP server, the explanation. They never get the cause. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly source: ErrorSource;
  readonly retryAfterS: number | undefined;
  /** By default, the catalogue's message. */
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
