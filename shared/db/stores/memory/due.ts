import type { Pool } from 'pg';
import { oneRow } from '../../rows.ts';
import { query } from '../../statement.ts';

/** Tables and conditions of rows for which work is due. Each condition has a partial index by account. */
const NEW_ROWS = {
  events: [['recording_sessions', 'last_arrival > synced_arrival']],
  rows: [
    ['raw_memories', 'promoted_at is null'],
    ['episodes', 'stale_at is not null'],
  ],
  episodes: [
    ['episodes', 'promoted_at is null'],
    [
      'facts',
      'stale_at is not null and superseded_by is null and revision_of is null and coalesce(retry_at, now()) <= now()',
    ],
  ],
} as const;

export type NewRows = keyof typeof NEW_ROWS;

export interface DuePage {
  /** Accounts to admit work for. */
  due: string[];
  /** Undefined on the last page. */
  last: string | undefined;
}

/** SQL that jumps from one account to the next in the indexes, however many rows an account has. */
const accountsAfter = (due: NewRows) => {
  const first =
    (after: string) =>
    ([table, isNew]: readonly [string, string]) =>
      `(select account_id from ${table} where ${isNew} and account_id > ${after} order by account_id limit 1)`;
  const next = (after: string) =>
    `select account_id from (${NEW_ROWS[due].map(first(after)).join(' union all ')}) n order by account_id limit 1`;
  return `with recursive accounts_after as (
    (${next('$1::uuid')})
    union all
    select n.account_id from accounts_after a cross join lateral (${next('a.account_id')}) n
  )`;
};

const dueQueries = (due: NewRows) => ({
  page: {
    name: `due_${due}_v1`,
    text: `${accountsAfter(due)}
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
    name: `due_count_${due}_v1`,
    text: `${accountsAfter(due)} select count(*)::int as count from (select from accounts_after limit $2) p`,
  },
});

const DUE_QUERIES = {
  events: dueQueries('events'),
  rows: dueQueries('rows'),
  episodes: dueQueries('episodes'),
};

/** Reads the next accounts with something new, by id. An active account is due unless it has live work of this kind. */
export async function pageOfDueAccounts(
  pool: Pool,
  { due, kind }: { due: NewRows; kind: string },
  after: string,
  size: number,
): Promise<DuePage> {
  const rows = await query<{ id: string; due: boolean }>(pool, DUE_QUERIES[due].page, [after, size, kind]);
  return {
    due: rows.flatMap(({ id, due }) => (due ? id : [])),
    last: rows.length < size ? undefined : rows.at(-1)?.id,
  };
}

export async function countDue(pool: Pool, due: NewRows, after: string, limit: number): Promise<number> {
  return (await oneRow(query<{ count: number }>(pool, DUE_QUERIES[due].count, [after, limit]))).count;
}

const HAS_LIVE_WORK = {
  name: 'has_live_work_v1',
  text: `select exists (
           select from work w where w.kind = $1 and w.deadline_at > now() - live_work_max_age()) as busy`,
};

export async function hasLiveWork(pool: Pool, kind: string): Promise<boolean> {
  return (await oneRow(query<{ busy: boolean }>(pool, HAS_LIVE_WORK, [kind]))).busy;
}
