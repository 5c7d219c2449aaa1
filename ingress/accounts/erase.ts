import type { EndingStores } from '../work/ending-stores.ts';

/** Most accounts take less. No longer than proxies wait for an answer, nor than calls may finish at a stop. */
const ERASE_WITHIN_MS = 15_000;

/**
 * Makes the eraser of accounts. Throws `not_authenticated` when the account is gone already. What is not erased in time is
 * left to the housekeeping, which also finishes for a process that died.
 */
export function accountEraser({
  beginErasure,
  continueErasure,
}: Pick<EndingStores, 'beginErasure' | 'continueErasure'>) {
  return async (id: string): Promise<void> => {
    await beginErasure(id);
    await continueErasure(id, ERASE_WITHIN_MS);
  };
}
