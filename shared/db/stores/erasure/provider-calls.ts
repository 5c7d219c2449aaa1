import type { EntityManager } from '@mikro-orm/postgresql';

const ROWS_AT_ONCE = 1000;

/** Takes the account out of the ledger, in short steps. What was spent stays, on nobody. */
export async function* forgetWhoCalled(em: EntityManager, accountId: string): AsyncGenerator<void> {
  for (let forgotten = ROWS_AT_ONCE; forgotten === ROWS_AT_ONCE; ) {
    const calls = await em.execute<object[]>(
      `update provider_calls set account_id = null
        where ctid = any (array(select ctid from provider_calls where account_id = ? limit ?)) returning 1`,
      [accountId, ROWS_AT_ONCE],
    );
    forgotten = calls.length;
    yield;
  }
}
