import type { EntityManager } from '@mikro-orm/postgresql';
import { ConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';
import type { IngressConfig } from '../../shared/config/config.ts';
import type { Log } from '../../shared/log.ts';
import type { AccessTokens } from '../../shared/security/access-tokens.ts';
import { HASHING_THREADS } from '../../shared/security/argon2.ts';
import { FailureThrottle } from '../limits/failure-throttle.ts';
import type { Limits } from '../limits/limiter.ts';
import { SignUpLimit } from '../limits/sign-up-limit.ts';
import { KnownNetworks } from './known-networks.ts';
import { AccountService } from './service.ts';

/** How many of one network wait for their turn, log-ins and sign-ups apart: at 35 ms each, two seconds' worth. */
const LINE_MAX = 64;

/** The accounts of an ingress, which limit what wrong and many passwords cost. */
export function openAccounts(
  config: Pick<IngressConfig, 'signingKeys' | 'inviteOnly' | 'rateLimit'>,
  parts: { em: () => EntityManager; tokens: AccessTokens; limits: Limits; log: Log },
): AccountService {
  const { signingKeys, inviteOnly, rateLimit } = config;
  const { em, tokens, limits, log } = parts;
  return new AccountService({
    em,
    tokens,
    inviteOnly,
    failures: new FailureThrottle(limits),
    networks: new KnownNetworks(em, signingKeys),
    signUps: new SignUpLimit(limits, log, { isOff: rateLimit === undefined }),
    hashing: new ConcurrencyLimiter({ atOnce: HASHING_THREADS, longest: LINE_MAX }),
  });
}
