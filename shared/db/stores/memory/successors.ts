import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Faults } from '../../../domain/faults.ts';
import { Fact } from '../../entities/memory.ts';
import { oneRow } from '../../rows.ts';

/*
 * `superseded_by` is the fact that has replaced a fact; `ended_by` is the fact that replaces it at its `valid_to`, a
 * time that was in the future when both were set. `forget-derived.ts` changes them when the replacing fact is deleted.
 */

/**
 * Adds a fault unless `id` is a fact of the account that is neither superseded nor a former wording of another. Also
 * adds one if `self` is `id` or one of its successors, since a chain of successors must have no circle.
 */
export async function checkSuccessor(
  tx: EntityManager,
  accountId: string,
  id: string | null | undefined,
  faults: Faults,
  self?: string,
): Promise<void> {
  if (!id) return;
  const checked = tx.execute<{ isRefused: boolean }[]>(
    `with recursive chain (id, successor) as (
       select id, ended_by from facts where account_id = ? and id = ? and superseded_by is null and revision_of is null
       union
       select f.id, coalesce(f.superseded_by, f.ended_by) from chain c join facts f on f.id = c.successor
     ) select coalesce(bool_or(id is not distinct from ?::uuid), true) as "isRefused" from chain`,
    [accountId, id, self ?? null],
  );
  if ((await oneRow(checked)).isRefused)
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
  const now = new Date();
  const change =
    end !== null && end > now
      ? { supersededBy: null, endedBy: successorId, invalidatedAt: null }
      : { supersededBy: successorId, invalidatedAt: now };
  await tx.nativeUpdate(
    Fact,
    { account: accountId, id },
    { ...change, ...(end && { validTo: end }), updatedAt: now },
  );
}

/**
 * Moves the ends of the predecessors of fact `id` after its beginning has moved: those that ended at the old beginning
 * (`from`) now end at the new one (`to`), but never before they begin. If `to` is null, superseded facts lose their
 * end, and facts that are still to be superseded keep it.
 */
export async function moveEnds(
  tx: EntityManager,
  accountId: string,
  id: string,
  { from, to }: { from: Date; to: Date | null },
): Promise<void> {
  const successor = to === null ? { supersededBy: id } : { $or: [{ supersededBy: id }, { endedBy: id }] };
  await tx.nativeUpdate(
    Fact,
    { account: accountId, ...successor, revisionOf: null, validTo: from },
    { validTo: to && raw('greatest(valid_from, ?::timestamptz)', [to]), updatedAt: new Date() },
  );
}
