import { type DestinationStream, type Logger, pino } from 'pino';
import { masked } from './text/secrets.ts';

export type Log = Logger;

/**
 * JSON lines on standard output, or where a test wants them. A log line names ids, codes, counts and durations; never a body, a key,
 * an e-mail address or any text of a person, so callers pass fields one by one and no object from outside. Secrets in the message
 * of an error, which may name an address with its password, are masked.
 */
export function createLog(process: string, level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: loggable, error: masked, reason: masked },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** The digit keeps EPIPE and the like out. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** An error as it may be logged. PostgreSQL's messages may repeat a person's text, so only their frames are. */
function loggable(error: unknown) {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const frames = error.stack?.slice(error.stack.indexOf('\n    at ') + 1);
  const message = isFromPostgres(error) ? undefined : masked(error.message);
  return { name: error.name, code, message, stack: frames };
}

/**
 * True if an error comes from PostgreSQL itself: its text may then contain values of the row. An ORM or a pool puts the
 * driver's error under `cause`, and its text into its own.
 */
export function isFromPostgres(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string' && SQLSTATE.test(error.code)) return true;
  return error.cause !== error && isFromPostgres(error.cause);
}
