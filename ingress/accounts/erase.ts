import type { EntityManager } from '@mikro-orm/postgresql';
import { beginErasure, continueErasure } from '../../shared/db/stores/end-account.ts';
import type { EndingOptions } from '../../shared/db/stores/erasure/work.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { Log } from '../../shared/log.ts';
import { withTimeout } from '../../shared/timing/within.ts';

/** Maximum time for which a request waits for the erasure of its account. Most erasures take less. */
const ERASE_WITHIN_MS = 400;

/**
 * The returned function throws `not_authenticated` when the account is gone or being erased, and `token_expired` when
 * the log-in has ended. The housekeeping erases what is left after `ERASE_WITHIN_MS`.
 */
export function accountEraser(em: () => EntityManager, options: EndingOptions, log: Log) {
  return async (user: UserPrincipal): Promise<void> => {
    await beginErasure(em(), user);
    const erasure = continueErasure(em(), user.id, options, ERASE_WITHIN_MS).catch((error: unknown) =>
      log.warn({ err: error }, 'could not go on with an erasure'),
    );
    // After the timeout, the answer is sent, and a step that waits for a lock continues.
    await withTimeout(ERASE_WITHIN_MS, () => erasure).catch(() => {});
  };
}
