export const STATEMENT_TIMEOUT_MS = 10_000;

/** A server that is alive ends a statement itself before that; else its connection is given up. */
export const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1000;

/**
 * Settings of the service's own statements. They all go by indexes: a plan that was made while a table was nearly
 * empty, after a quiet night say, would read the whole of it until the next analyze. Without JIT, which would take that
 * setting's costs at their word.
 */
const SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: 2000,
  idle_in_transaction_session_timeout: 5000,
  enable_seqscan: 'off',
  jit: 'off',
};

/** For the start of a session that is ours alone. */
export const SESSION_OPTIONS = settings()
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** Follows `begin`, in the same round trip: they end with the transaction, so that no other client of a pooler gets them. */
export const LOCAL_SETTINGS = settings()
  .map((setting) => `set local ${setting}`)
  .join('; ');

function settings(): string[] {
  return Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`);
}
