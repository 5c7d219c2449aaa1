import type { EntityManager } from '@mikro-orm/postgresql';
import { ROWS_AT_ONCE, repeated } from '../../steps.ts';

/** Takes the account out of the ledger, in steps. What was spent stays, on nobody. */
export function forgetWhoCalled(em: EntityManager, accountId: string): AsyncGenerator<void> {
  return repeated(async () => {
    const calls = await em.execute<object[]>(
      `update provider_calls set account_id = null
        where ctid = any (array(select ctid from provider_calls where account_id = ? limit ${ROWS_AT_ONCE})) returning 1`,
      [accountId],
    );
    return calls.length;
  });
}
