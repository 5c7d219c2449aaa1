import type { EntityManager } from '@mikro-orm/postgresql';
import { repeated } from '../../steps.ts';

/** Which predictions an erasure erases: those of a connection, of one grant or (0) of all, admitted before its end. */
export interface EndedGrant {
  connectionId: string;
  grantRevision: number;
}

/** Rows in one statement: few, so that a request for one of them hardly waits. */
const AT_ONCE = 500;

/** Erases what was made with an ended grant of the account, in steps. */
export async function* eraseMadeWith(
  em: EntityManager,
  accountId: string,
  { connectionId, grantRevision }: EndedGrant,
): AsyncGenerator<void> {
  yield* repeated(async () => {
    const [step] = await em.execute<{ left: boolean }[]>(
      `select erase_made_with_v1(?::uuid, ?::uuid, ?::int, ?::int) as left`,
      [accountId, connectionId, grantRevision, AT_ONCE],
    );
    return step?.left ? AT_ONCE : 0;
  }, AT_ONCE);
}
