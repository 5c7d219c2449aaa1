import type { EntityManager } from '@mikro-orm/postgresql';
import { ROWS_AT_ONCE, takeSteps } from '../../shared/db/steps.ts';
import { exchange } from '../../shared/db/stores/connections/exchange.ts';
import {
  endRevokedWork,
  type RevokedConnection,
  type RevokeResult,
  revokeConnection,
} from '../../shared/db/stores/connections/revoke.ts';
import type { EndingOptions } from '../../shared/db/stores/erasure/work.ts';
import type { Log } from '../../shared/log.ts';
import type { ConnectionExchangeRequest } from '../../shared/schemas/connections.ts';

/** Maximum time that a call spends on ending work of revoked connections. The housekeeping ends the rest. */
const ENDING_TIME_MAX_MS = 2000;

export type ConnectionChanges = ReturnType<typeof connectionChanges>;

interface Announcing extends EndingOptions {
  announceChanged(accountId: string, change: 'connections'): void;
}

/** Changes of connections that also end work, and announce both after the commit. */
export function connectionChanges(em: () => EntityManager, options: Announcing, log: Log) {
  const { windowS } = options;

  async function announce<Result extends RevokeResult>(work: Promise<Result>): Promise<Result> {
    const result = await work;
    options.announceEnded(result.ended);
    if (result.accountId !== undefined) options.announceChanged(result.accountId, 'connections');
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
      announce(exchange(em(), appId, request, windowS)),
    revokeConnection: (connection: RevokedConnection) =>
      announce(revokeConnection(em(), connection, windowS)),
  };
}
