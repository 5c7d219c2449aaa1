import type { EntityManager } from '@mikro-orm/postgresql';
import type { Faults } from '../../../domain/faults.ts';

/*
 * A fact is superseded by another (`superseded_by`), or will end when another begins (`ended_by`). Deletions, which
 * pass facts on to the next successor, are in `forget-derived.ts`.
 */

/**
 * Adds a fault unless `id` is another fact of the account, neither superseded nor a former wording. Also adds one if
 * `self` already follows `id`, which would make a circle.
 */
export async function checkSuccessor(
  tx: EntityManager,
  accountId: string,
  id: string | null | undefined,
  faults: Faults,
  self?: string,
): Promise<void> {
  if (!id) return;
  const [{ isRefused } = { isRefused: true }] = await tx.execute<{ isRefused: boolean }[]>(
    `with recursive chain (id, successor) as (
       select id, ended_by from facts where account_id = ? and id = ? and superseded_by is null and revision_of is null
       union
       select f.id, coalesce(f.superseded_by, f.ended_by) from chain c join facts f on f.id = c.successor
     ) select coalesce(bool_or(id is not distinct from ?::uuid), true) as "isRefused" from chain`,
    [accountId, id, self ?? null],
  );
  if (isRefused)
    faults.add(
      'superseded_by',
      'Input should be the id of another fact, which is not superseded, and does not end when this one begins',
    );
}

/**
 * Marks a fact as superseded. `end` becomes the end of its validity; null leaves that unchanged. With a future `end`,
 * the fact stays current until then: it gets `ended_by` instead of `superseded_by`.
 */
export async function supersede(
  tx: EntityManager,
  accountId: string,
  id: string,
  successorId: string,
  end: Date | null,
): Promise<void> {
  await tx.execute(
    `update facts f
        set superseded_by = case when b.ends_later then null else b.id end,
            ended_by = case when b.ends_later then b.id else f.ended_by end,
            invalidated_at = case when not b.ends_later then now() end,
            valid_to = coalesce(b.at, f.valid_to), updated_at = now()
       from (select id, at, coalesce(at > now(), false) as ends_later
               from (select ?::uuid as id, ?::timestamptz as at) b) b
      where f.account_id = ? and f.id = ?`,
    [successorId, end, accountId, id],
  );
}

/**
 * When the beginning of fact `id` changes, moves the ends of the facts that it supersedes or will end, if they equal
 * the old beginning. No fact ends before it begins, and a fact that will end keeps its end if the new beginning is
 * unknown.
 */
export async function moveEnds(
  tx: EntityManager,
  accountId: string,
  id: string,
  { from, to }: { from: Date; to: Date | null },
): Promise<void> {
  await tx.execute(
    `update facts f
        set valid_to = case when b.at < f.valid_from then f.valid_from else b.at end, updated_at = now()
       from (select ?::timestamptz as at) b
      where f.account_id = ? and (f.superseded_by = ? or (f.ended_by = ? and b.at is not null))
        and f.revision_of is null and f.valid_to = ?`,
    [to, accountId, id, id, from],
  );
}
