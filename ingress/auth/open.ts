import type { Pool } from 'pg';
import { batcher } from '../../shared/db/batcher.ts';
import { findUsers } from '../../shared/db/stores/accounts.ts';
import { findAppsByKey } from '../../shared/db/stores/apps.ts';
import { findUsersByKey, markKeysUsed } from '../../shared/db/stores/service-keys.ts';
import type { Log } from '../../shared/log.ts';
import type { AccessTokens } from '../../shared/security/access-tokens.ts';
import type { CredentialThrottle } from '../limits/credential-throttle.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import { noteKeyUse } from './key-use.ts';

/** Look-ups that arrive together share a statement, up to this many. */
const BATCH = { most: 200 };

/** Credentials that are looked up in the database. */
export function openCredentials(
  pool: Pool,
  tokens: AccessTokens,
  throttle: CredentialThrottle,
  log: Log,
): Credentials {
  const byId = batcher((ids: string[]) => findUsers(pool, ids), BATCH);
  return createCredentials(
    {
      app: batcher((hashes: Buffer[]) => findAppsByKey(pool, hashes), BATCH),
      user: {
        byToken: ({ accountId }) => byId(accountId),
        byKey: batcher((hashes: Buffer[]) => findUsersByKey(pool, hashes), BATCH),
      },
    },
    tokens,
    throttle,
    noteKeyUse(
      batcher((hashes: Buffer[]) => markKeysUsed(pool, hashes), BATCH),
      log,
    ),
  );
}
