import type { Pool } from 'pg';
import { query } from '../../statement.ts';

/** Tables and conditions of the rows that are new for a kind of work. Each condition has a partial index by account. */
const NEW_ROWS = {
  sync: [['recording_sessions', 'last_arrival > synced_arrival']],
  promote_episodes: [
    ['raw_memories', 'promoted_at is null'],
    ['episodes', 'stale_at is not null'],
  ],
  promote_facts: [
    ['episodes', 'promoted_at is null'],
    [
      'facts',
      'stale_at is not null and superseded_by is null and revision_of is null and coalesce(retry_at, now()) <= now()',
    ],
  ],
} as const;

export type DueKind = keyof typeof NEW_ROWS;

export interface DuePage {
  /** Accounts to admit work for. */
  due: string[];
  /** Undefined on the last page. */
  last: string | undefined;
}

/** SQL that jumps from one account to the next in the indexes, however many rows an account has. */
const accountsAfter = (kind: DueKind) => {
  const first =
    (after: string) =>
    ([table, isNew]: readonly [string, string]) =>
      `(select account_id from ${table} where ${isNew} and account_id > ${after} order by account_id limit 1)`;
  const next = (after: string) =>
    `select account_id from (${NEW_ROWS[kind].map(first(after)).join(' union all ')}) n order by account_id limit 1`;
  return `with recursive accounts_after as (
    (${next('$1::uuid')})
    union all
    select n.account_id from accounts_after a cross join lateral (${next('a.account_id')}) n
  )`;
};

const dueQueries = (kind: DueKind) => ({
  page: {
    name: `due_${kind}_v3`,
    text: `${accountsAfter(kind)}
      select p.account_id as id,
             coalesce(a.active, false) and not exists (
               select from work w
                where w.kind = $3 and w.party = p.account_id
                  and w.queued_at > now() - live_work_max_age()) as due
        from (select account_id from accounts_after limit $2) p
        left join accounts a on a.id = p.account_id
       order by p.account_id`,
  },
  count: {
    name: `due_count_${kind}_v2`,
    text: `${accountsAfter(kind)} select count(*)::int as count from (select from accounts_after limit $2) p`,
  },
});

const DUE_QUERIES = {
  sync: dueQueries('sync'),
  promote_episodes: dueQueries('promote_episodes'),
  promote_facts: dueQueries('promote_facts'),
};

/** Reads the next accounts with something new, by id. An active account is due unless it has live work of this kind. */
export async function pageOfDueAccounts(
  pool: Pool,
  kind: DueKind,
  after: string,
  size: number,
): Promise<DuePage> {
  const rows = await query<{ id: string; due: boolean }>(pool, DUE_QUERIES[kind].page, [after, size, kind]);
  return {
    due: rows.flatMap(({ id, due }) => (due ? id : [])),
    last: rows.length < size ? undefined : rows.at(-1)?.id,
  };
}

export async function countDue(pool: Pool, kind: DueKind, after: string, limit: number): Promise<number> {
  const [row] = await query<{ count: number }>(pool, DUE_QUERIES[kind].count, [after, limit]);
  return row?.count ?? 0;
}

const HAS_LIVE_WORK = {
  name: 'has_live_work_v2',
  text: `select exists (
           select from work w where w.kind = $1 and w.deadline_at > now() - live_work_max_age()) as busy`,
};

export async function hasLiveWork(pool: Pool, kind: string): Promise<boolean> {
  const [row] = await query<{ busy: boolean }>(pool, HAS_LIVE_WORK, [kind]);
  return row?.busy ?? false;
}
