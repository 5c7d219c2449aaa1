import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { addToWaitlist } from '../../shared/db/stores/invites.ts';
import { type LimiterFactory, takeOrRefuse } from '../limits/limiter.ts';
import { networkOf } from '../request/address.ts';

/** Maximum requests from one network, which may be a whole office. */
const REQUESTS_PER_HOUR = 100;
/** Minimum time to an answer. It hides the time of the insert, which would reveal whether the e-mail address is new. */
const ANSWER_AFTER_MS = 20;

/** Throws `rate_limited` after too many entries from a network, and `overloaded` when the waitlist is full. */
export type JoinWaitlist = (email: string, address: string) => Promise<void>;

export function openWaitlist({
  em,
  limits,
}: {
  em: () => EntityManager;
  limits: LimiterFactory;
}): JoinWaitlist {
  const limiter = limits.open({ name: 'waitlist', points: REQUESTS_PER_HOUR, windowS: 3600 });
  return async (email, address) => {
    await takeOrRefuse(limiter, networkOf(address));
    await Promise.all([addToWaitlist(em(), email), sleep(ANSWER_AFTER_MS)]);
  };
}
