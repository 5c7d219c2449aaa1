import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { addToWaitlist } from '../../shared/db/stores/invites.ts';
import { type LimiterFactory, takeOrRefuse } from '../limits/limiter.ts';
import { networkOf } from '../limits/network.ts';

/** Entries per hour from one network, which may be a whole office's. */
const PER_HOUR = 100;
/**
 * Minimum time to an answer: longer than the database usually takes, because the database's own time would reveal, by
 * some microseconds, whether an entry is new.
 */
const ANSWER_AFTER_MS = 20;

/**
 * Puts an e-mail address on the waitlist, in a time that does not reveal whether it was there before. Throws
 * `rate_limited` after too many entries from one network, `overloaded` when the list is full.
 */
export type JoinWaitlist = (email: string, address: string) => Promise<void>;

export function openWaitlist({
  em,
  limits,
}: {
  em: () => EntityManager;
  limits: LimiterFactory;
}): JoinWaitlist {
  const limiter = limits.open({ name: 'waitlist', points: PER_HOUR, windowS: 3600 });
  return async (email, address) => {
    await takeOrRefuse(limiter, networkOf(address));
    await Promise.all([addToWaitlist(em(), email), sleep(ANSWER_AFTER_MS)]);
  };
}
