import type { EntityManager } from '@mikro-orm/postgresql';
import { ROWS_AT_ONCE, takeSteps } from '../../shared/db/steps.ts';
import { exchange } from '../../shared/db/stores/connections/exchange.ts';
import {
  endRevokedWork,
  revokeConnection,
  revokeOwnConnection,
} from '../../shared/db/stores/connections/revoke.ts';
import { beginErasure, continueErasure } from '../../shared/db/stores/end-account.ts';
import type { EndingOptions } from '../../shared/db/stores/erasure/work.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { Log } from '../../shared/log.ts';
import type { ConnectionExchangeRequest } from '../../shared/schemas/connections.ts';
import { withTimeout } from '../../shared/timing/within.ts';

/** Maximum time that a call spends on ending work of revoked connections. The housekeeping ends the rest. */
const ENDING_TIME_MAX_MS = 2000;

/**
 * Store functions that also end work, and announce the ended work after the commit. `beginErasure` leaves both to
 * `continueErasure`.
 */
export type EndingStores = ReturnType<typeof endingStores>;

export function endingStores(em: () => EntityManager, options: EndingOptions, log: Log) {
  const { windowS } = options;

  async function announceEnded<Result extends { ended: string[] }>(work: Promise<Result>): Promise<Result> {
    const result = await work;
    options.announceEnded(result.ended);
    if (result.ended.length >= ROWS_AT_ONCE) await endMore();
    return result;
  }

  /**
   * Never rejects, because the caller's change is committed, and the failure may concern another caller's connection.
   */
  const endMore = () =>
    takeSteps(endRevokedWork(em(), options), ENDING_TIME_MAX_MS).catch((error: unknown) =>
      log.warn({ err: error }, 'could not end all work of revoked connections'),
    );

  return {
    exchange: (appId: string, request: ConnectionExchangeRequest) =>
      announceEnded(exchange(em(), appId, request, windowS)),
    revokeConnection: (connection: { id: string; appId: string; userId: string }) =>
      announceEnded(revokeConnection(em(), connection, windowS)),
    revokeOwnConnection: (connection: { id: string; accountId: string }) =>
      announceEnded(revokeOwnConnection(em(), connection, windowS)),
    beginErasure: (user: UserPrincipal) => beginErasure(em(), user),
    continueErasure: (accountId: string, withinMs: number) =>
      continueErasure(em(), accountId, options, withinMs),
  };
}

/** Maximum time for which a request waits for the erasure of its account. Most erasures take less. */
const ERASE_WITHIN_MS = 400;

/**
 * The returned function throws `not_authenticated` when the account is gone or being erased, and `token_expired` when
 * the log-in has ended. The housekeeping erases what is left after `ERASE_WITHIN_MS`.
 */
export function accountEraser(
  { beginErasure, continueErasure }: Pick<EndingStores, 'beginErasure' | 'continueErasure'>,
  log: Log,
) {
  return async (user: UserPrincipal): Promise<void> => {
    await beginErasure(user);
    const erasure = continueErasure(user.id, ERASE_WITHIN_MS).catch((error: unknown) =>
      log.warn({ err: error }, 'could not go on with an erasure'),
    );
    // After the timeout, the answer is sent, and a step that waits for a lock continues.
    await withTimeout(ERASE_WITHIN_MS, () => erasure).catch(() => {});
  };
}
