import { type EntityManager, raw, wrap } from '@mikro-orm/postgresql';
import { isNearDuplicate, isSameValue } from '../../../domain/facts/compare.ts';
import type { KnownFact } from '../../../domain/facts/reconcile.ts';
import type { Quote, Statement } from '../../../domain/facts/statement.ts';
import { slotOf } from '../../../domain/facts/topics.ts';
import type { Faults } from '../../../domain/faults.ts';
import {
  changesStatement,
  checkSpan,
  FACT_SPAN,
  type FactValues,
  type NewFact,
} from '../../../domain/memory-rows.ts';
import { authorOf, type Witness } from '../../../domain/witness.ts';
import { newId, newIds } from '../../../ids.ts';
import { Fact, MemoryLink } from '../../entities/memory.ts';
import { insertNew } from '../../rows.ts';
import { changeMemory } from './change.ts';
import { forgetStatements } from './forgotten.ts';
import {
  checkSources,
  commonProjectSql,
  DERIVED_FROM,
  linksOf,
  type RowWithSources,
  setProjects,
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
  witness: Witness,
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
        ...authorOf(witness, values.origin),
        id: ids[place] ?? '',
        account: accountId,
        invalidatedAt,
        ...dates,
      };
      return { row: tx.create(Fact, columns), sources: [...new Set(sources)] };
    });
    await tx.flush();
    await setSources(tx, accountId, FACT_LINK, newFacts);
    await setProjects(tx, accountId, newFacts);
    return newFacts;
  });
}

/** Reads a fact or a former wording of one, with the links to its sources. Throws `not_found`. */
export async function readFactDetail(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<{ row: Fact; links: MemoryLink[] }> {
  const row = await em.findOneOrFail(Fact, { id, account: accountId });
  return { row, links: await linksOf(em, accountId, [id]) };
}

/**
 * Changes the given fields. If that changes what the fact states, keeps the former wording as a fact that this one
 * supersedes. Throws `not_found`, also for a former wording, or a `ValidationError`.
 */
export function changeFact(
  em: EntityManager,
  accountId: string,
  id: string,
  { values: { sources, ...values }, faults }: { values: FactValues; faults: Faults },
  witness: Witness,
): Promise<RowWithSources<Fact>> {
  if (sources === undefined && Object.keys(values).length === 0) return readFact(em, accountId, id);
  return changeMemory(em, accountId, async (tx) => {
    const now = new Date();
    const row = await tx.findOneOrFail(Fact, { id, account: accountId, revisionOf: null });
    await checkSources(tx, accountId, FACT_LINK.to, [{ sources, faults }]);
    const isNewSuccessor = values.supersededBy !== undefined && values.supersededBy !== row.supersededBy;
    if (isNewSuccessor) await checkSuccessor(tx, accountId, values.supersededBy, faults, id);
    const { validFrom, validTo } = { validFrom: row.validFrom, validTo: row.validTo, ...values };
    checkSpan(validFrom, validTo, faults, FACT_SPAN, { sentEnd: values.validTo !== undefined });
    faults.throwIfAny();
    if (corrects(values, row) || (isNewSuccessor && values.supersededBy !== null))
      await forgetStatements(tx, accountId, [id]);
    if (changesStatement(values, row)) {
      await storePreviousWording(tx, row, now);
      row.recordedAt = now;
    }
    // The person has written the text, so promotion must not change it.
    if (values.text !== undefined) {
      // The slot names the topic of the text.
      if (values.text !== row.text) row.slot = slotOf(values.text);
      Object.assign(row, { ...authorOf(witness), staleAt: null });
    }
    if (isNewSuccessor) row.invalidatedAt = values.supersededBy === null ? null : now;
    const beganAt = row.validFrom;
    tx.assign(row, { ...values, updatedAt: now });
    await tx.flush();
    if (beganAt && validFrom?.valueOf() !== beganAt.valueOf())
      await moveEnds(tx, accountId, id, { from: beganAt, to: validFrom ?? null });
    if (sources !== undefined) {
      await setSources(tx, accountId, FACT_LINK, [{ row, sources }]);
      await setProjects(tx, accountId, [{ row, sources }]);
    }
    return readFact(tx, accountId, id);
  });
}

/** Reports whether a new text states something else, and does not only say the same in other words. */
function corrects({ text }: Pick<FactValues, 'text'>, former: Pick<Fact, 'text' | 'slot'>): boolean {
  if (text === undefined || text === former.text || isNearDuplicate(text, former.text)) return false;
  const slot = former.slot ?? slotOf(former.text);
  return slot === null || !isSameValue(text, former.text, slot);
}

/** Throws `not_found`, also for a former wording. */
async function readFact(em: EntityManager, accountId: string, id: string): Promise<RowWithSources<Fact>> {
  const row = await em.findOneOrFail(Fact, { id, account: accountId, revisionOf: null });
  return (await withSources(em, accountId, FACT_LINK.to, [row]))[0] ?? { row, sources: [] };
}

/** Copies the present wording and its sources into a fact that this one supersedes. A stale fact has no wording. */
async function storePreviousWording(tx: EntityManager, fact: Fact, now: Date): Promise<void> {
  if (fact.staleAt) return;
  const { id, account } = fact;
  const formerId = newId();
  const ended = { invalidatedAt: now, supersededBy: id, endedBy: null, revisionOf: id };
  const fresh = { pinned: false, failures: 0, retryAt: null, updatedAt: now };
  tx.create(Fact, { ...wrap(fact).toPOJO(), ...ended, ...fresh, id: formerId, account });
  const links = await tx.find(MemoryLink, { account, fromId: id });
  await tx.insertMany(
    MemoryLink,
    links.map(({ toId, relation, fromTier, toTier, quote }) => {
      return { account, fromId: formerId, toId, relation, fromTier, toTier, quote };
    }),
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
  account: string,
  fact: Pick<KnownFact, 'id' | 'quotes'>,
  { quotes, episodeIds }: Evidence,
): Promise<boolean> {
  if (fact.quotes.length >= QUOTES_MAX) return false;
  const rawIds = quotes.map(({ rawId }) => rawId);
  const quoted = await tx.find(MemoryLink, {
    account,
    fromId: { $in: [...episodeIds] },
    toId: { $in: rawIds },
  });
  const sources = [
    ...quotes.map(({ rawId, words }) => ({ toId: rawId, toTier: 'raw', quote: words })),
    ...quoted.map(({ fromId }) => ({ toId: fromId, toTier: 'episode', quote: null })),
  ];
  const link = { account, fromId: fact.id, relation: DERIVED_FROM, fromTier: 'fact' };
  const links = sources.map((source) => ({ ...link, ...source }));
  if ((await insertNew(tx, MemoryLink, links)) === 0) return false;
  await tx.nativeUpdate(
    Fact,
    { account, id: fact.id },
    {
      updatedAt: raw('greatest(updated_at, now())'),
      project: raw(commonProjectSql('?'), [account, fact.id]),
    },
  );
  return true;
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
  const dates = { validFrom, validTo, recordedAt: now, createdAt: now, updatedAt: now };
  const columns = { account: accountId, text, kind, slot, origin, tags: [], confidence, model };
  await tx.insert(Fact, { id, ...columns, ...dates });
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
