import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../shared/log.ts';
import type { EndingStores } from '../work/ending-stores.ts';

/** Most accounts take less. */
const ERASE_WITHIN_MS = 400;

/**
 * Makes the eraser of accounts. Throws `not_authenticated` when the account is gone already. What is not erased in time is
 * left to the housekeeping, which also finishes for a process that died.
 */
export function accountEraser(
  { beginErasure, continueErasure }: Pick<EndingStores, 'beginErasure' | 'continueErasure'>,
  log: Log,
) {
  return async (id: string): Promise<void> => {
    await beginErasure(id);
    const continued = continueErasure(id, ERASE_WITHIN_MS).catch((error: unknown) =>
      log.warn({ err: error }, 'could not go on with an erasure'),
    );
    // A step may wait for a lock.
    await Promise.race([continued, sleep(ERASE_WITHIN_MS)]);
  };
}
