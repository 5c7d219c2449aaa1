import type { EntityManager } from '@mikro-orm/postgresql';
import type { Outcome } from '../../../domain/replies/reliability.ts';
import { REPLY_STATES } from '../../../schemas/replies.ts';

export interface Period {
  since: Date | undefined;
  until: Date | undefined;
}

type Counts = Record<(typeof REPLY_STATES)[number], number>;

/** How many of the account's predictions are in each state, of those that were made in the period. */
export async function countReplies(em: EntityManager, accountId: string, period: Period): Promise<Counts> {
  const rows = await em.execute<{ status: string; count: number }[]>(
    `select status, count(*)::int as count from replies
      where account_id = ? and created_at >= coalesce(?::timestamptz, '-infinity')
        and created_at < coalesce(?::timestamptz, 'infinity') group by status`,
    [accountId, period.since ?? null, period.until ?? null],
  );
  const counts = new Map(rows.map(({ status, count }) => [status, count]));
  return Object.fromEntries(REPLY_STATES.map((state) => [state, counts.get(state) ?? 0])) as Counts;
}

/** Decisions that the report of the calibration looks at. */
const OUTCOMES_MAX = 2000;

/** The account's latest decisions, with the confidence that was shown. */
export function readOutcomes(em: EntityManager, accountId: string): Promise<Outcome[]> {
  return em.execute<Outcome[]>(
    `select confidence, label as "right" from replies
      where account_id = ? and label is not null order by feedback_at desc, id desc limit ?`,
    [accountId, OUTCOMES_MAX],
  );
}
