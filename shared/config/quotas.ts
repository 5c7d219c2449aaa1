import type { Env } from './env.ts';

/** How much an account may store, by the columns of `account_usage`. What is missing has no limit. */
export type Quotas = Readonly<Partial<Record<'sessions' | 'events' | 'bytes', number>>>;

const GIB = 1024 ** 3;
const RANGE = { min: 0, max: 999_999_999_999_999 };

/** Reads them; 0 is no limit. */
export function readQuotas(env: Env): Quotas {
  const limits = {
    sessions: env.integer('QUOTA_SESSIONS', 100_000, RANGE),
    events: env.integer('QUOTA_EVENTS', 5_000_000, RANGE),
    bytes: env.integer('QUOTA_BYTES', 5 * GIB, RANGE),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit > 0));
}
