import { type DestinationStream, type Logger, pino } from 'pino';
import { newId } from './ids.ts';
import { maskSecrets } from './text/secrets.ts';

export type Log = Logger;

/**
 * A log line names ids, codes, counts and durations, never a body, a key, an e-mail address or a person's text. So
 * callers pass single fields, never an object from outside. Secrets in error messages, such as the password in a URL,
 * are masked.
 */
export function createLog(process: string, level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: { process, instance: newId() },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => serializeError(error), error: maskSecrets, reason: maskSecrets },
  };
  // An asynchronous pino writes the rest at exit, and retries without end if the reader of the pipe was killed.
  return pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
}

/** Returns the id that each line of the log has: it names the process. */
export function instanceOf(log: Log): string {
  return String(log.bindings()['instance']);
}

/** Pattern of the error codes of PostgreSQL. They contain a digit, unlike those of Node, such as EPIPE. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

const NESTED_ERRORS_MAX = 5;
/** Maximum depth of nested causes that are logged. */
const CAUSE_DEPTH_MAX = 3;

interface LoggedError {
  name: string;
  code?: string | undefined;
  message?: string | undefined;
  stack?: string | undefined;
  cause?: LoggedError;
  errors?: LoggedError[];
}

/** Leaves out PostgreSQL's messages, which may quote a person's text. */
function serializeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '));
  const message = isFromPostgres(error) ? undefined : maskSecrets(error.message);
  const loggedError: LoggedError = { name: error.name, code, message, stack: frames?.join('\n') };
  if (depth === CAUSE_DEPTH_MAX) return loggedError;
  const inner = (one: unknown) => serializeError(one, depth + 1);
  if (error.cause instanceof Error) loggedError.cause = inner(error.cause);
  if (error instanceof AggregateError)
    loggedError.errors = error.errors.slice(0, NESTED_ERRORS_MAX).map(inner);
  return loggedError;
}

/**
 * Returns true if an error, or one of its causes, comes from PostgreSQL, so that its message may contain values of a
 * row. An ORM or a pool wraps the driver's error and repeats its message.
 */
export function isFromPostgres(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string' && SQLSTATE.test(error.code)) return true;
  return error.cause !== error && isFromPostgres(error.cause);
}
