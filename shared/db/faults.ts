import { AppError } from '../errors/app-error.ts';
import type { ErrorCode } from '../errors/catalogue.ts';

/**
 * Decides what a database error means to a caller: by SQLSTATE, by Node's error code, or by the driver's message if the
 * error has no code.
 */

const SERIALIZATION_CONFLICTS = ['40001', '40P01'];

/**
 * Connection lost (08), out of resources (53), shutdown by an operator (57P), failing disk or files of the server (58),
 * demoted primary that is now read-only (25006), idle or too long transaction ended (25P03, 25P04).
 */
const UNAVAILABLE_STATES = /^(08...|53...|57P..|58...|25006|25P03|25P04)$/;

const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';

const UNAVAILABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Beginnings of messages of errors that pg 8 raises without a code. */
const UNAVAILABLE_MESSAGES = [
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
];

/** Checks whether the database or the connection failed, not the statement: a retry may help. */
export function isUnavailable(error: unknown): boolean {
  return causes(error).some(
    ({ code, message }) =>
      (code !== undefined && (UNAVAILABLE_CODES.has(code) || UNAVAILABLE_STATES.test(code))) ||
      UNAVAILABLE_MESSAGES.some((start) => message.startsWith(start)),
  );
}

const LOST_ANSWER_MESSAGES = /^(Query read timeout|Connection terminated)/;
const LOST_ANSWER_CODES = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

/**
 * Checks whether a statement may have been committed although no answer came. Also true for some failed attempts to
 * connect.
 */
export function isAnswerLost(error: unknown): boolean {
  return causes(error).some(
    ({ code, message }) =>
      (code !== undefined && LOST_ANSWER_CODES.includes(code)) || LOST_ANSWER_MESSAGES.test(message),
  );
}

export function isLockNotAvailable(error: unknown): boolean {
  return hasCode(error, LOCK_NOT_AVAILABLE);
}

/** Checks whether a statement timed out, most likely waiting for a lock. It changed nothing, and a retry may help. */
export function isLockTimeout(error: unknown): boolean {
  return isLockNotAvailable(error) || isCancelled(error);
}

/** Checks whether a statement was cancelled, by `statement_timeout` or by an operator. */
export function isCancelled(error: unknown): boolean {
  return hasCode(error, QUERY_CANCELED);
}

/** Checks whether a transaction conflicted with another (serialization failure, deadlock): it is safe to run again. */
export function isSerializationConflict(error: unknown): boolean {
  return hasCode(error, ...SERIALIZATION_CONFLICTS);
}

/** Checks whether a retry may help: nothing is wrong with the statement or its values. */
export function isTransient(error: unknown): boolean {
  return isUnavailable(error) || isLockTimeout(error) || isSerializationConflict(error);
}

const NO_DATA_FOUND = 'P0002';

/** Checks whether an SQL function did not find a row that it needs. */
export function isNoDataFound(error: unknown): boolean {
  return hasCode(error, NO_DATA_FOUND);
}

const UNIQUE_VIOLATION = '23505';

function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, UNIQUE_VIOLATION);
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return causes(error).some(({ code }) => code !== undefined && codes.includes(code));
}

const CAUSES_MAX = 5;

/** Lists an error and the errors that it wraps: an ORM or a pool puts the driver's error under `cause`. */
function causes(error: unknown): { code: string | undefined; message: string }[] {
  const errors = [];
  for (let cause = error; cause instanceof Error && errors.length < CAUSES_MAX; cause = cause.cause) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
    errors.push({ code, message: cause.message });
  }
  return errors;
}

/** Throws `code` if what is to be stored is there already. */
export async function unlessTaken<T>(code: ErrorCode, store: () => Promise<T>): Promise<T> {
  try {
    return await store();
  } catch (error) {
    throw isUniqueViolation(error) ? new AppError(code, { cause: error }) : error;
  }
}
