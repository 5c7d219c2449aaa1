import type { EntityManager } from '@mikro-orm/postgresql';
import type { Quote, Statement } from '../../../domain/facts/statement.ts';
import { slotOf } from '../../../domain/facts/topics.ts';
import { Faults } from '../../../domain/faults.ts';
import {
  changesStatement,
  checkSpan,
  FACT_SPAN,
  type FactValues,
  type NewFact,
} from '../../../domain/memory-rows.ts';
import { AppError } from '../../../errors/app-error.ts';
import { newId, newIds } from '../../../ids.ts';
import { Fact, type MemoryLink } from '../../entities/memory.ts';
import { changeMemory } from './change.ts';
import {
  checkSources,
  DERIVED_FROM,
  linksOf,
  type RowWithSources,
  setSources,
  withSources,
} from './links.ts';
import { checkSuccessor, moveEnds } from './successors.ts';

const FACT_LINK = { from: 'fact', to: 'episode' } as const;

/** Stores facts, all or none. Throws a `ValidationError` for unknown sources, and unknown or superseded successors. */
export function addFacts(
  em: EntityManager,
  accountId: string,
  facts: NewFact[],
): Promise<RowWithSources<Fact>[]> {
  const now = new Date();
  const ids = newIds(facts.length);
  return changeMemory(em, accountId, async (tx) => {
    await checkSources(tx, accountId, FACT_LINK.to, facts);
    for (const { values, faults } of facts) await checkSuccessor(tx, accountId, values.supersededBy, faults);
    for (const { faults } of facts) faults.throwIfAny();
    const newFacts = facts.map(({ values, sources }, place) => {
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
    await setSources(tx, accountId, FACT_LINK, newFacts);
    return newFacts;
  });
}

/** Finds a fact or a former wording of one, with the links to its sources. */
export async function findFact(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<{ row: Fact; links: MemoryLink[] } | undefined> {
  const row = await em.findOne(Fact, { id, account: accountId });
  return row === null ? undefined : { row, links: await linksOf(em, accountId, [id]) };
}

/**
 * Changes the given fields. If that changes what the fact states, keeps the former wording as a fact that this one
 * supersedes. Throws `not_found`, also for a former wording, or a `ValidationError`.
 */
export function changeFact(
  em: EntityManager,
  accountId: string,
  id: string,
  { sources, ...values }: FactValues,
): Promise<RowWithSources<Fact>> {
  if (sources === undefined && Object.keys(values).length === 0) return readFact(em, accountId, id);
  return changeMemory(em, accountId, async (tx) => {
    const now = new Date();
    const row = await tx.findOne(Fact, { id, account: accountId, revisionOf: null });
    if (row === null) throw new AppError('not_found');
    const faults = new Faults();
    await checkSources(tx, accountId, FACT_LINK.to, [{ sources, faults }]);
    const isNewSuccessor = values.supersededBy !== undefined && values.supersededBy !== row.supersededBy;
    if (isNewSuccessor) await checkSuccessor(tx, accountId, values.supersededBy, faults, id);
    const { validFrom, validTo } = { validFrom: row.validFrom, validTo: row.validTo, ...values };
    checkSpan(validFrom, validTo, faults, FACT_SPAN, { sentEnd: values.validTo !== undefined });
    faults.throwIfAny();
    if (changesStatement(values, row)) {
      await storePreviousWording(tx, row, now);
      row.recordedAt = now;
    }
    // The person has written the text, so promotion must not change it.
    if (values.text !== undefined) {
      // The slot names the topic of the text.
      if (values.text !== row.text) row.slot = slotOf(values.text);
      Object.assign(row, { origin: 'human', staleAt: null });
    }
    if (isNewSuccessor) row.invalidatedAt = values.supersededBy === null ? null : now;
    const beganAt = row.validFrom;
    tx.assign(row, { ...values, updatedAt: now });
    await tx.flush();
    if (beganAt && validFrom?.valueOf() !== beganAt.valueOf())
      await moveEnds(tx, accountId, id, { from: beganAt, to: validFrom ?? null });
    if (sources !== undefined) await setSources(tx, accountId, FACT_LINK, [{ row, sources }]);
    return readFact(tx, accountId, id);
  });
}

/** Throws `not_found`, also for a former wording. */
async function readFact(em: EntityManager, accountId: string, id: string): Promise<RowWithSources<Fact>> {
  const row = await em.findOne(Fact, { id, account: accountId, revisionOf: null });
  if (row === null) throw new AppError('not_found');
  return (await withSources(em, accountId, FACT_LINK.to, [row]))[0] ?? { row, sources: [] };
}

/** Copies the present wording and its sources into a fact that this one supersedes. A stale fact has no wording. */
async function storePreviousWording(tx: EntityManager, { id, staleAt }: Fact, now: Date): Promise<void> {
  if (staleAt) return;
  const formerId = newId();
  await tx.execute(
    `insert into facts (id, account_id, text, kind, slot, origin, tags, confidence, valid_from, valid_to, recorded_at,
                        invalidated_at, superseded_by, revision_of, model, created_at, updated_at)
     select ?, account_id, text, kind, slot, origin, tags, confidence, valid_from, valid_to, recorded_at, ?, id, id, model,
            created_at, ?
       from facts where id = ?`,
    [formerId, now, now, id],
  );
  await tx.execute(
    `insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier, quote)
     select account_id, ?, to_id, relation, from_tier, to_tier, quote from memory_links
      where account_id = (select account_id from facts where id = ?) and from_id = ?`,
    [formerId, id, id],
  );
}

/** Evidence for a fact. An episode counts only if it contains a quoted row. */
interface Evidence {
  quotes: readonly Quote[];
  episodeIds: readonly string[];
}

/** A fact with this many quotes gets no more links, because it is read with all of its sources. */
const QUOTES_MAX = 500;

/** Links a fact to its evidence, unless it has `QUOTES_MAX` quotes. Returns whether any link is new. */
export async function addEvidence(
  tx: EntityManager,
  accountId: string,
  factId: string,
  { quotes, episodeIds }: Evidence,
): Promise<boolean> {
  const newLinks = await tx.execute<object[]>(
    `with quoted as (
       select ?::uuid as account_id, q."rawId" as to_id, q.words
         from json_to_recordset(?::json) q ("rawId" uuid, words text)
     ), present as (
       select count(*) as quotes from memory_links where account_id = ? and from_id = ? and quote is not null
     ), links as (
       select account_id, to_id, 'raw' as tier, words from quoted
       union
       select account_id, e.from_id, 'episode', null from quoted join memory_links e using (account_id, to_id)
        where e.from_id in (select json_array_elements_text(?::json)::uuid)
     )
     insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier, quote)
     select account_id, ?, to_id, '${DERIVED_FROM}', 'fact', tier, words from links, present
      where present.quotes < ${QUOTES_MAX}
     on conflict do nothing returning 1`,
    [accountId, JSON.stringify(quotes), accountId, factId, JSON.stringify(episodeIds), factId],
  );
  if (newLinks.length > 0)
    await tx.execute(
      'update facts set updated_at = greatest(updated_at, now()) where account_id = ? and id = ?',
      [accountId, factId],
    );
  return newLinks.length > 0;
}

interface FactOptions {
  /** Undefined for a new id. */
  id: string | undefined;
  model: string | null;
}

/** Stores a statement as a fact. Returns its id. */
export async function addFact(
  tx: EntityManager,
  accountId: string,
  { text, kind, slot, origin, confidence, validFrom, validTo }: Statement,
  { id = newId(), model }: FactOptions,
): Promise<string> {
  const now = new Date();
  tx.create(Fact, {
    ...{ id, account: accountId, text, kind, slot, origin, tags: [], confidence, model },
    ...{ validFrom, validTo, recordedAt: now, createdAt: now, updatedAt: now },
  });
  await tx.flush();
  return id;
}

/** Replaces a fact's wording, and keeps the former one, as `changeFact` does. */
export async function rewordFact(
  tx: EntityManager,
  accountId: string,
  id: string,
  { text, kind, slot, origin, confidence }: Statement,
  model: string | null,
): Promise<void> {
  const now = new Date();
  const fact = await tx.findOneOrFail(Fact, { id, account: accountId });
  await storePreviousWording(tx, fact, now);
  tx.assign(fact, {
    ...{ text, kind, slot: slot ?? fact.slot ?? null, origin, confidence, model },
    ...{ recordedAt: now, updatedAt: now },
  });
  await tx.flush();
}
