import type { EntityManager } from '@mikro-orm/postgresql';
import type { Quote, Statement } from '../../../domain/facts/statement.ts';
import { newId } from '../../../ids.ts';
import { Fact } from '../../entities/memory/fact.ts';
import { keepWording } from './facts.ts';
import { DERIVED_FROM } from './links.ts';

/** What supports a fact. */
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
  const links = [
    ...quotes.map(({ rawId, words }) => ({ to: rawId, tier: 'raw', quote: words })),
    ...episodeIds.map((id) => ({ to: id, tier: 'episode', quote: null })),
  ];
  const added = await tx.execute<object[]>(
    `insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier, quote)
     select ?, ?, l."to", '${DERIVED_FROM}', 'fact', l.tier, l.quote
       from json_to_recordset(?::json) l ("to" uuid, tier text, quote text)
     on conflict do nothing returning 1`,
    [accountId, factId, JSON.stringify(links)],
  );
  if (added.length > 0)
    await tx.execute(
      'update facts set updated_at = greatest(updated_at, now()) where account_id = ? and id = ?',
      [accountId, factId],
    );
  return added.length > 0;
}

interface NewFact {
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
  { id = newId(), model, former }: NewFact,
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
