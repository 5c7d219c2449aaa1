import type { Env } from './env.ts';

const GIB = 1024 ** 3;
const QUOTA_RANGE = { min: 0, max: 999_999_999_999_999 };

/** Limits by column of `account_usage`; a missing entry means no limit. */
export type Quotas = Readonly<Partial<Record<'sessions' | 'events' | 'bytes', number>>>;

/** Tokens of models a day (UTC), of each account and of all together; null means no limit. */
export interface TokenQuotas {
  account: number | null;
  allAccounts: number | null;
}

/** 0 means no limit. */
export function readQuotas(env: Env): Quotas {
  const limits = {
    sessions: env.integer('QUOTA_SESSIONS', 100_000, QUOTA_RANGE),
    events: env.integer('QUOTA_EVENTS', 5_000_000, QUOTA_RANGE),
    bytes: env.integer('QUOTA_BYTES', 5 * GIB, QUOTA_RANGE),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit > 0));
}

export function readTokenQuotas(env: Env): TokenQuotas {
  return {
    account: env.integer('QUOTA_TOKENS', 2_000_000, QUOTA_RANGE) || null,
    allAccounts: env.integer('QUOTA_TOKENS_ALL', 50_000_000, QUOTA_RANGE) || null,
  };
}
