import type { EntityManager } from '@mikro-orm/postgresql';
import { exchange } from '../../shared/db/stores/connections/exchange.ts';
import { revokeConnection, revokeOwnConnection } from '../../shared/db/stores/connections/revoke.ts';
import { beginErasure, continueErasure } from '../../shared/db/stores/erase-account.ts';
import type { ConnectionExchangeRequest } from '../../shared/schemas/connections.ts';
import { announcing } from '../../shared/work/completion.ts';
import type { WakeUps } from '../../shared/work/wake-ups.ts';

/** Store functions that end work as a side effect. Whoever waits for that work or runs it is woken after the commit. */
export type EndingStores = ReturnType<typeof endingStores>;

export function endingStores(em: () => EntityManager, wakeUps: WakeUps, recoveryWindowS: number) {
  return {
    exchange: announcing(
      wakeUps,
      (appId: string, request: ConnectionExchangeRequest) => exchange(em(), appId, request, recoveryWindowS),
      ({ ended }) => ended,
    ),
    revokeConnection: announcing(
      wakeUps,
      (connection: { id: string; appId: string; userId: string }) =>
        revokeConnection(em(), connection, recoveryWindowS),
      ({ ended }) => ended,
    ),
    revokeOwnConnection: announcing(
      wakeUps,
      (connection: { id: string; accountId: string }) =>
        revokeOwnConnection(em(), connection, recoveryWindowS),
      ({ ended }) => ended,
    ),
    beginErasure: announcing(
      wakeUps,
      (id: string) => beginErasure(em(), id, recoveryWindowS),
      (ended) => ended,
    ),
    continueErasure: (id: string, withinMs: number) =>
      continueErasure(em(), id, { windowS: recoveryWindowS, withinMs }),
  };
}
