import type { EntityManager } from '@mikro-orm/postgresql';
import type { ErrorCode } from '../../../errors/catalogue.ts';
import { ROWS_AT_ONCE, repeated } from '../../steps.ts';
import { transaction } from '../../transaction.ts';
import { completeWithin, type Subject } from '../work/complete.ts';
import { eraseRows } from './rows.ts';

export interface EndingTerms {
  windowS: number;
  /** How an account's work of each kind ends, by the kind's name: in this order. */
  cancelled: ReadonlyMap<string, ErrorCode>;
  /** Work has ended: wakes whoever waits for it or runs it. */
  ended(ids: readonly string[]): void;
}

/** Cancels the account's work that has not ended, in steps. None is added: `admit_v1` refuses it. */
export async function* endJobs(
  em: EntityManager,
  accountId: string,
  { windowS, cancelled, ended }: EndingTerms,
): AsyncGenerator<void> {
  for (const [kind, code] of cancelled)
    yield* repeated(async () => {
      const live = await em.execute<Subject[]>(
        `select id, party, month from work where kind = ? and party = ? limit ${ROWS_AT_ONCE}`,
        [kind, accountId],
      );
      const end = { guard: 'live', state: 'cancelled', code } as const;
      const batch = live.map((one) => ({ ...one, ...end }));
      ended(await transaction(em, (tx) => completeWithin(tx, batch, windowS)));
      return live.length;
    });
}

/** Erases what the history has of the account's work, in steps: unlike an app's predictions, it leaves no tombstones. */
export async function* eraseJobs(em: EntityManager, accountId: string): AsyncGenerator<void> {
  const weeks = await em.execute<{ name: string }[]>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'history'::regclass`,
  );
  // An account's work costs no unit; by the index on that.
  for (const { name } of weeks) yield* eraseRows(em, accountId, name, 'party = ? and month is null');
}
