import type { EntityManager } from '@mikro-orm/postgresql';
import { ROWS_AT_ONCE, repeated } from '../../steps.ts';

/** Deletes an account's rows of a table or partition, in steps; `whose` finds them by an index. */
export function eraseRows(
  em: EntityManager,
  accountId: string,
  table: string,
  whose = 'account_id = ?',
): AsyncGenerator<void> {
  return repeated(async () => {
    const gone = await em.execute<object[]>(
      `delete from ${table} where ctid = any (array(select ctid from ${table} where ${whose} limit ${ROWS_AT_ONCE})) returning 1`,
      [accountId],
    );
    return gone.length;
  });
}
