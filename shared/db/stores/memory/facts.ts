import type { EntityManager } from '@mikro-orm/postgresql';
import type { Quote, Statement } from '../../../domain/facts/statement.ts';
import { Faults } from '../../../domain/faults.ts';
import {
  checkSpan,
  FACT_SPAN,
  type FactValues,
  type NewFact,
  statesAnew,
} from '../../../domain/memory-rows.ts';
import { AppError } from '../../../errors/app-error.ts';
import { newId, newIds } from '../../../ids.ts';
import { Fact, type MemoryLink } from '../../entities/memory.ts';
import { changeMemory } from './change.ts';
import { checkSources, DERIVED_FROM, linksOf, type Sourced, setSources, withSources } from './links.ts';

const LINK = { from: 'fact', to: 'episode' } as const;

/** Stores facts, all or none. Throws a `ValidationError` for other rows that the account does not have. */
export function addFacts(em: EntityManager, accountId: string, facts: NewFact[]): Promise<Sourced<Fact>[]> {
  const now = new Date();
  const ids = newIds(facts.length);
  return changeMemory(em, accountId, async (tx) => {
    await checkSources(tx, accountId, LINK.to, facts);
    for (const { values, faults } of facts) await checkSuccessor(tx, accountId, values.supersededBy, faults);
    for (const { faults } of facts) faults.refuse();
    const added = facts.map(({ values, sources }, place) => {
      const dates = { recordedAt: now, createdAt: now, updatedAt: now };
      const invalidatedAt = values.supersededBy ? now : null;
      const columns = {
        ...values,
        id: ids[place] ?? '',
        account: accountId,
        invalidatedAt,
        ...dates,
      };
      return { row: tx.create(Fact, columns), sources };
    });
    await tx.flush();
    await setSources(tx, accountId, LINK, added);
    return added;
  });
}

/** One of the account's facts, a former wording too, with the links to its sources. */
export async function findFact(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<{ row: Fact; links: MemoryLink[] } | undefined> {
  const row = await em.findOne(Fact, { id, account: accountId });
  return row === null ? undefined : { row, links: await linksOf(em, accountId, [id]) };
}

/**
 * Changes what is given; a change of what the fact states keeps the former wording, as a fact that this one supersedes.
 * Throws `not_found`, also for a former wording, or a `ValidationError` when the result would be none.
 */
export function changeFact(
  em: EntityManager,
  accountId: string,
  id: string,
  { sources, ...values }: FactValues,
): Promise<Sourced<Fact>> {
  return changeMemory(em, accountId, async (tx) => {
    const now = new Date();
    const row = await tx.findOne(Fact, { id, account: accountId, revisionOf: null });
    if (row === null) throw new AppError('not_found');
    const faults = new Faults();
    await checkSources(tx, accountId, LINK.to, [{ sources, faults }]);
    const isNewSuccessor = values.supersededBy !== undefined && values.supersededBy !== row.supersededBy;
    if (isNewSuccessor) await checkSuccessor(tx, accountId, values.supersededBy, faults, id);
    const { validFrom, validTo } = { validFrom: row.validFrom, validTo: row.validTo, ...values };
    checkSpan(validFrom, validTo, faults, FACT_SPAN, { sentEnd: values.validTo !== undefined });
    faults.refuse();
    if (statesAnew(values, row)) {
      await keepWording(tx, row, now);
      row.recordedAt = now;
    }
    // The account's own words now: nothing but the account may change them.
    if (values.text !== undefined) Object.assign(row, { origin: 'human', staleAt: null });
    if (isNewSuccessor) row.invalidatedAt = values.supersededBy === null ? null : now;
    tx.assign(row, { ...values, updatedAt: now });
    await tx.flush();
    if (sources !== undefined) await setSources(tx, accountId, LINK, [{ row, sources }]);
    const [changed] = await withSources(tx, accountId, LINK.to, [row]);
    return changed ?? { row, sources: [] };
  });
}

/** The fact that supersedes another is the account's, and superseded by none: so there are no circles. */
async function checkSuccessor(
  tx: EntityManager,
  accountId: string,
  id: string | null | undefined,
  faults: Faults,
  self?: string,
): Promise<void> {
  if (!id) return;
  const current = { id, account: accountId, supersededBy: null, revisionOf: null };
  if (id === self || (await tx.count(Fact, current)) === 0)
    faults.add('superseded_by', 'Input should be the id of another fact that is not superseded');
}

/** Stores the present wording as one that the fact supersedes, with its sources. A stale fact has none. */
export async function keepWording(tx: EntityManager, { id, staleAt }: Fact, now: Date): Promise<void> {
  if (staleAt) return;
  const former = newId();
  await tx.execute(
    `insert into facts (id, account_id, text, kind, slot, origin, tags, confidence, valid_from, valid_to, recorded_at,
                        invalidated_at, superseded_by, revision_of, model, created_at, updated_at)
     select ?, account_id, text, kind, slot, origin, tags, confidence, valid_from, valid_to, recorded_at, ?, id, id, model,
            created_at, ?
       from facts where id = ?`,
    [former, now, now, id],
  );
  await tx.execute(
    `insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier, quote)
     select account_id, ?, to_id, relation, from_tier, to_tier, quote from memory_links
      where account_id = (select account_id from facts where id = ?) and from_id = ?`,
    [former, id, id],
  );
}

/** The support of a fact: quotes, and the episodes that were read, of which those that hold a quote count. */
interface Evidence {
  quotes: readonly Quote[];
  episodeIds: readonly string[];
}

/** Links a fact to what supports it. Returns whether any of it is new. */
export async function addEvidence(
  tx: EntityManager,
  accountId: string,
  factId: string,
  { quotes, episodeIds }: Evidence,
): Promise<boolean> {
  const added = await tx.execute<object[]>(
    `with quoted as (
       select ?::uuid as account_id, q."rawId" as to_id, q.words
         from json_to_recordset(?::json) q ("rawId" uuid, words text)
     ), links as (
       select account_id, to_id, 'raw' as tier, words from quoted
       union
       select account_id, e.from_id, 'episode', null from quoted join memory_links e using (account_id, to_id)
        where e.from_id in (select json_array_elements_text(?::json)::uuid)
     )
     insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier, quote)
     select account_id, ?, to_id, '${DERIVED_FROM}', 'fact', tier, words from links
     on conflict do nothing returning 1`,
    [accountId, JSON.stringify(quotes), JSON.stringify(episodeIds), factId],
  );
  if (added.length > 0)
    await tx.execute(
      'update facts set updated_at = greatest(updated_at, now()) where account_id = ? and id = ?',
      [accountId, factId],
    );
  return added.length > 0;
}

interface FactOptions {
  /** A new one, by default. */
  id: string | undefined;
  model: string | null;
  /** The fact that supersedes it from the first, and the end of validity that it gets from that. */
  former: { by: string; end: Date | null } | null;
}

/** Stores a statement as a fact. Returns its id. */
export async function addFact(
  tx: EntityManager,
  accountId: string,
  { text, kind, slot, origin, confidence, validFrom, validTo }: Statement,
  { id = newId(), model, former }: FactOptions,
): Promise<string> {
  const now = new Date();
  tx.create(Fact, {
    ...{ id, account: accountId, text, kind, slot, origin, tags: [], confidence, model },
    ...{ validFrom, validTo: former?.end ?? validTo },
    ...{ recordedAt: now, invalidatedAt: former && now, supersededBy: former?.by ?? null },
    ...{ createdAt: now, updatedAt: now },
  });
  await tx.flush();
  return id;
}

/** Says the same in other words: the former wording is kept, as after a PATCH. */
export async function reword(
  tx: EntityManager,
  accountId: string,
  id: string,
  { text, kind, slot, origin, confidence }: Statement,
  model: string | null,
): Promise<void> {
  const now = new Date();
  const fact = await tx.findOneOrFail(Fact, { id, account: accountId });
  await keepWording(tx, fact, now);
  tx.assign(fact, {
    text,
    kind,
    slot: slot ?? fact.slot ?? null,
    origin,
    confidence,
    model,
    recordedAt: now,
    updatedAt: now,
  });
  await tx.flush();
}

/** Replaces a fact by another one, from the end on that it gets; null leaves its end as it is. */
export async function supersede(
  tx: EntityManager,
  accountId: string,
  id: string,
  by: string,
  end: Date | null,
): Promise<void> {
  await tx.execute(
    `update facts set superseded_by = ?, invalidated_at = now(), valid_to = coalesce(?, valid_to), updated_at = now()
      where account_id = ? and id = ?`,
    [by, end, accountId, id],
  );
}
