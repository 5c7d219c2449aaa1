import { hash } from 'node:crypto';
import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { Erased } from '../../domain/erasures.ts';
import { LOWEST_ID } from '../../ids.ts';
import { Erasure } from '../entities/erasure.ts';
import { oneRow } from '../rows.ts';
import { query } from '../statement.ts';
import { inPages } from '../steps.ts';

/** Account of the entry of an erased account, which does not name it. */
const NO_ACCOUNT = LOWEST_ID;
/** More than a person erases by hand. Of more entries of an account, only the latest are kept. */
const ENTRIES_MAX = 100_000;
const ENTRIES_AT_ONCE = 1000;

/** Notes what an account erases, in the transaction that erases it. */
export async function addErasures(
  tx: EntityManager,
  accountId: string,
  what: Erased,
  subjects: Iterable<string>,
): Promise<void> {
  const entries = [...new Set(subjects)].map((subject) => ({ accountId, what, subject }));
  for (const page of inPages(entries, ENTRIES_AT_ONCE))
    await tx
      .createQueryBuilder(Erasure)
      .insert(page.map((entry) => ({ ...entry, erasedAt: raw('now()') })))
      .onConflict(['accountId', 'what', 'subject'])
      .merge(['erasedAt'])
      // An entry that a restore took over keeps its moment.
      .where({ pending: false })
      .execute('run');
  if (entries.length > 0) await tx.execute(DELETE_OLDEST, [accountId, accountId, ENTRIES_MAX]);
}

const DELETE_OLDEST = `
  delete from erasures
   where account_id = ? and erased_at < (
     select erased_at from erasures where account_id = ? order by erased_at desc offset ? limit 1)`;

export function addErasedAccount(tx: EntityManager, id: string): Promise<void> {
  return addErasures(tx, NO_ACCOUNT, 'account', [hash('sha256', id)]);
}

/** Returns those of the subjects that the account has erased. */
export async function erasedSubjects(
  em: EntityManager,
  accountId: string,
  what: Erased,
  subjects: readonly string[],
): Promise<Set<string>> {
  const entries = await em.find(Erasure, { accountId, what, subject: { $in: [...subjects] } });
  return new Set(entries.map(({ subject }) => subject));
}

const COUNT_PENDING = {
  name: 'pending_erasures_v1',
  text: 'select count(*)::int as count from erasures where pending',
};

/** Counts what a restored database has still to erase. */
export async function countPendingErasures(pool: Pool): Promise<number> {
  return (await oneRow(query<{ count: number }>(pool, COUNT_PENDING, []))).count;
}
