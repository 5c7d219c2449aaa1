import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { Log } from '../../shared/log.ts';
import { within } from '../../shared/timing/within.ts';
import type { EndingStores } from '../work/ending-stores.ts';

/** Most accounts take less. */
const ERASE_WITHIN_MS = 400;

/**
 * Makes the eraser of accounts. Throws `not_authenticated` when the account is gone already, and `token_expired` when the log-in
 * was ended. What is not erased in time is
 * left to the housekeeping, which also finishes for a process that died.
 */
export function accountEraser(
  { beginErasure, continueErasure }: Pick<EndingStores, 'beginErasure' | 'continueErasure'>,
  log: Log,
) {
  return async (user: UserPrincipal): Promise<void> => {
    await beginErasure(user);
    const continued = continueErasure(user.id, ERASE_WITHIN_MS).catch((error: unknown) =>
      log.warn({ err: error }, 'could not go on with an erasure'),
    );
    // A step may wait for a lock.
    await within(ERASE_WITHIN_MS, () => continued).catch(() => {});
  };
}
