import { type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * JSON lines on standard output. A log line names ids, codes, counts and durations; never a body, a key,
 * an e-mail address or any text of a person, so callers pass fields one by one and no object from outside.
 */
export function createLog(process: string, level: string): Log {
  return pino({ level, base: { process }, timestamp: pino.stdTimeFunctions.isoTime });
}
