/** What a database error means for a caller, told by SQLSTATE, by Node's code, or by the driver's text where it has no code. */

/** The digit keeps EPIPE and the like out. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

const SERIALIZATION_CONFLICTS = ['40001', '40P01'];

/** Connection lost (08), resources (53), shut down by an operator (57P), a former primary, and an idle transaction's limits. */
const UNAVAILABLE_STATES = /^(08...|53...|57P..|25006|25P03|25P04)$/;

/** `lock_timeout` is over; a statement was cancelled, by `statement_timeout` or by an operator. */
const LOCK_TIMEOUTS = ['55P03', '57014'];

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

/** pg 8 raises these without a code. */
const UNAVAILABLE_MESSAGES = [
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
];

/** Whether the database is unreachable, for everybody: trying again may help. */
export function isUnavailable(error: unknown): boolean {
  return causes(error).some(
    ({ code, message }) =>
      (code !== undefined && (UNAVAILABLE_CODES.has(code) || UNAVAILABLE_STATES.test(code))) ||
      UNAVAILABLE_MESSAGES.some((start) => message.startsWith(start)),
  );
}

/**
 * Whether a statement gave up because it waited for too long, most likely for a lock: the fault of what it asked for, not of
 * the database. It left nothing behind, and trying again later may help.
 */
export function isLockTimeout(error: unknown): boolean {
  return causes(error).some(({ code }) => code !== undefined && LOCK_TIMEOUTS.includes(code));
}

/** Whether two transactions got in each other's way: running this one again is safe and right. */
export function isSerializationConflict(error: unknown): boolean {
  return causes(error).some(({ code }) => code !== undefined && SERIALIZATION_CONFLICTS.includes(code));
}

/** Whether PostgreSQL itself refused: its texts may then hold values of the row. */
export function isFromPostgres(error: unknown): boolean {
  return causes(error).some(({ code }) => code !== undefined && SQLSTATE.test(code));
}

const CAUSES_MAX = 5;

/** The error and what it wraps: an ORM or a pool puts the driver's error under `cause`. */
function causes(error: unknown): { code: string | undefined; message: string }[] {
  const found = [];
  for (let cause = error; cause instanceof Error && found.length < CAUSES_MAX; cause = cause.cause) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
    found.push({ code, message: cause.message });
  }
  return found;
}
