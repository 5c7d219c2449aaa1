import { TOMBSTONE_DAYS } from '../schemas/limits.ts';

export const STATEMENT_TIMEOUT_MS = 10_000;

/** A live server ends a statement before that; otherwise its connection is given up. */
export const QUERY_GRACE_MS = 1000;
export const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + QUERY_GRACE_MS;

/** Time for which the hot path's functions wait for a lock; other statements wait longer. */
export const HOT_PATH_LOCK_TIMEOUT_MS = 500;

/**
 * The service's own statements all go by indexes: a plan that was made while a table was nearly empty, after a quiet
 * night for example, would read all of it until the next analyze. JIT takes the costs that this setting makes up at
 * face value, so it is off too.
 */
const PLANNER = { enable_seqscan: 'off', jit: 'off' };

/** Settings of the service's own statements. */
const SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: 2000,
  idle_in_transaction_session_timeout: 5000,
  ...PLANNER,
};

/** The settings with which a session of our own starts. */
export const SESSION_OPTIONS = assignments(SETTINGS)
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** Follows `begin`, in the same round trip. They end with the transaction, so no other client of a pooler gets them. */
export const LOCAL_SETTINGS = assignments(SETTINGS)
  .map((setting) => `set local ${setting}`)
  .join('; ');

/**
 * Settings of the hot path's functions, which bring them along because a session that a pooler lends has none of ours.
 * Each look-up in them goes by a key, whatever the tables held when it was planned, and is planned once per session:
 * planning takes longer than running it.
 */
export const FUNCTION_SETTINGS = assignments({
  lock_timeout: HOT_PATH_LOCK_TIMEOUT_MS,
  ...PLANNER,
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
})
  .map((setting) => `set ${setting}`)
  .join(' ');

/** Values that several SQL functions share, or SQL and TypeScript: the expression of the SQL function of each name. */
export const SQL_CONSTANTS = {
  tombstone_age: `interval '${TOMBSTONE_DAYS} days'`,
  /** No live work is older: deadlines are shorter by far. */
  live_work_max_age: `interval '1 hour'`,
  /** `now()` is the start of a transaction: rows of transactions that began later may be newer. */
  clock_slack: `interval '1 minute'`,
};

function assignments(settings: Record<string, string | number>): string[] {
  return Object.entries(settings).map(([name, value]) => `${name}=${value}`);
}
