import type { EntityManager } from '@mikro-orm/postgresql';
import { exchange } from '../shared/db/stores/connections/exchange.ts';
import { revokeConnection, revokeOwnConnection } from '../shared/db/stores/connections/revoke.ts';
import { beginErasure, continueErasure } from '../shared/db/stores/erase-account.ts';
import type { WakeUps } from '../shared/jobs/wake-ups.ts';
import type { ConnectionExchangeRequest } from '../shared/schemas/connections.ts';
import { announcing } from '../shared/work/completion.ts';

/** Store functions that end work besides what they are for. What they end announces itself after the commit. */
export type EndingStores = ReturnType<typeof endingStores>;

export function endingStores(em: () => EntityManager, wakeUps: WakeUps, recoveryWindowS: number) {
  return {
    exchange: announcing(
      wakeUps,
      (appId: string, request: ConnectionExchangeRequest) => exchange(em(), appId, request, recoveryWindowS),
      (exchanged) => ('ended' in exchanged ? exchanged.ended : []),
    ),
    revokeConnection: announcing(
      wakeUps,
      (connection: { id: string; appId: string; userId: string }) =>
        revokeConnection(em(), connection, recoveryWindowS),
      (revoked) => (typeof revoked === 'string' ? [] : revoked.ended),
    ),
    revokeOwnConnection: announcing(
      wakeUps,
      (connection: { id: string; accountId: string }) =>
        revokeOwnConnection(em(), connection, recoveryWindowS),
      (revoked) => revoked?.ended ?? [],
    ),
    beginErasure: announcing(
      wakeUps,
      (id: string) => beginErasure(em(), id, recoveryWindowS),
      (ended) => ended ?? [],
    ),
    continueErasure: (id: string, withinMs: number) =>
      continueErasure(em(), id, { windowS: recoveryWindowS, withinMs }),
  };
}
