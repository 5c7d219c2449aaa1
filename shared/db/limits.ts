import { TOMBSTONE_DAYS } from '../schemas/limits.ts';

export const STATEMENT_TIMEOUT_MS = 10_000;

/** Time after `STATEMENT_TIMEOUT_MS` until a connection is given up. A live server has ended the statement by then. */
export const QUERY_GRACE_MS = 1000;
export const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + QUERY_GRACE_MS;

/** Time for which the hot path's functions wait for a lock; other statements wait longer. */
export const HOT_PATH_LOCK_TIMEOUT_MS = 500;

/**
 * Planner settings that make all of the service's statements use indexes. Without them, a plan made while a table was
 * nearly empty, after a quiet night for example, would read the whole table until the next analyze. JIT is off because
 * `enable_seqscan = off` gives plans artificial costs, which would trigger it.
 */
const PLANNER_SETTINGS = { enable_seqscan: 'off', jit: 'off' };

const SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: 2000,
  idle_in_transaction_session_timeout: 5000,
  ...PLANNER_SETTINGS,
};

/** Start-up options that apply `SETTINGS` to a connection without a pooler. */
export const SESSION_OPTIONS = assignments(SETTINGS)
  .map((setting) => `-c ${setting}`)
  .join(' ');

/**
 * SQL that makes `SETTINGS` hold for one transaction, sent with `begin` in one round trip. They end with the
 * transaction, so no other client of a pooler gets them.
 */
export const LOCAL_SETTINGS = assignments(SETTINGS)
  .map((setting) => `set local ${setting}`)
  .join('; ');

/**
 * Settings of the hot path's functions, attached to each because a pooler's sessions do not have `SETTINGS`. They make
 * each look-up use an index, even if it was planned while the table was nearly empty. Each look-up is planned once per
 * session, because planning takes longer than running.
 */
export const FUNCTION_SETTINGS = assignments({
  lock_timeout: HOT_PATH_LOCK_TIMEOUT_MS,
  ...PLANNER_SETTINGS,
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
})
  .map((setting) => `set ${setting}`)
  .join(' ');

/** Values that SQL functions share with each other or with TypeScript: name of an SQL function -> its expression. */
export const SQL_CONSTANTS = {
  tombstone_age: `interval '${TOMBSTONE_DAYS} days'`,
  /** Upper bound on the age of live work: deadlines are far shorter. */
  live_work_max_age: `interval '1 hour'`,
  /** Allowance for rows newer than `now()`, the start of a transaction: later transactions may have written them. */
  clock_slack: `interval '1 minute'`,
};

function assignments(settings: Record<string, string | number>): string[] {
  return Object.entries(settings).map(([name, value]) => `${name}=${value}`);
}
