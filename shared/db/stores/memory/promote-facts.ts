import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { passagesOverlap } from '../../../domain/facts/passage.ts';
import { haveSamePassage, quotesBeside, reconcile } from '../../../domain/facts/reconcile.ts';
import type { FactSource } from '../../../domain/facts/source.ts';
import type { Statement } from '../../../domain/facts/statement.ts';
import { idsOf } from '../../../ids.ts';
import { Episode } from '../../entities/memory.ts';
import { MemoryChanged } from './change.ts';
import { sourcesOf } from './fact-sources.ts';
import { addEvidence, addFact, rewordFact } from './facts.ts';
import { deleteFacts } from './forget-derived.ts';
import { forgottenQuotes } from './forgotten.ts';
import { currentFacts, knownFacts, type RelatedFact, withoutForgotten } from './known-facts.ts';
import { supersede } from './successors.ts';

export interface ExtractedStatements {
  sources: readonly FactSource[];
  /** Facts that a model was shown along with the sources. */
  related: readonly RelatedFact[];
  /** In the order of `sources`; for each source, the most important statement first. */
  statements: readonly (readonly Statement[])[];
  /** Null if the statements were found by patterns. */
  model: string | null;
  /** `inAll` limits the new facts; `ofSource` limits the passages of one source that new facts are made from. */
  limits: { inAll: number; ofSource: number };
}

/** `skipped` is the number of sources that yielded nothing; `ids` are those of the facts created or changed. */
export interface StoreResult {
  created: number;
  skipped: number;
  ids: string[];
}

/** Reports whether storing the statements changes facts. A stale fact is rewritten or deleted in any case. */
export function changesFacts({ sources, statements }: ExtractedStatements): boolean {
  return sources.some(({ tier }) => tier === 'fact') || statements.some(({ length }) => length > 0);
}

/**
 * Turns statements into facts, and marks the episodes as promoted, in a transaction of `changeMemory`. A stale fact gets
 * the first new statement from its remaining sources, or is deleted. Throws `MemoryChanged` if a source, or a fact that a
 * model was shown, has changed.
 */
export async function storeStatements(
  tx: EntityManager,
  accountId: string,
  extracted: ExtractedStatements,
): Promise<StoreResult> {
  await checkUnchanged(tx, accountId, extracted);
  const storage = new StatementStorage(tx, accountId, extracted);
  for (const [place, source] of extracted.sources.entries())
    await storage.store(source, extracted.statements[place] ?? []);
  await markPromoted(tx, accountId, extracted.sources);
  return storage.result;
}

async function checkUnchanged(
  tx: EntityManager,
  accountId: string,
  { sources, related }: ExtractedStatements,
) {
  const now = await sourcesOf(tx, accountId, sources);
  const facts = await currentFacts(tx, accountId, idsOf(related));
  const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (!isSame(now, sources) || !isSame(facts, related)) throw new MemoryChanged();
}

async function markPromoted(tx: EntityManager, accountId: string, sources: readonly FactSource[]) {
  const ids = idsOf(sources.filter(({ tier }) => tier === 'episode'));
  await tx.nativeUpdate(
    Episode,
    { account: accountId, id: { $in: ids } },
    { promotedAt: raw('now()'), failures: 0, retryAt: null },
  );
}

class StatementStorage {
  readonly #tx: EntityManager;
  readonly #accountId: string;
  readonly #extracted: ExtractedStatements;
  readonly #createdIds = new Set<string>();
  readonly #updatedIds = new Set<string>();
  #skipped = 0;

  constructor(tx: EntityManager, accountId: string, extracted: ExtractedStatements) {
    this.#tx = tx;
    this.#accountId = accountId;
    this.#extracted = extracted;
  }

  get result(): StoreResult {
    const ids = [...this.#createdIds.union(this.#updatedIds)];
    return { created: this.#createdIds.size, skipped: this.#skipped, ids };
  }

  async store(source: FactSource, statements: readonly Statement[]): Promise<void> {
    const isFact = source.tier === 'fact';
    // Deletes the stale fact, so that facts that it superseded become current again. A statement that contradicts them
    // supersedes them again.
    if (isFact) await deleteFacts(this.#tx, this.#accountId, [source.id]);
    const limit = isFact ? 1 : this.#extracted.limits.ofSource;
    // Statements from one passage count once towards the limit, to leave room for other passages of the source.
    const passages: Statement[] = [];
    let hasEffect = false;
    for (const statement of await this.#withoutForgotten(statements)) {
      const isOfCountedPassage = !isFact && passages.some((one) => haveSamePassage(one, statement));
      const hasRoom =
        (isOfCountedPassage || passages.length < limit) &&
        this.#createdIds.size < this.#extracted.limits.inAll;
      const effect = await this.#storeOne(statement, source, hasRoom);
      hasEffect ||= effect !== 'nothing';
      if (effect === 'made' && !isOfCountedPassage) passages.push(statement);
    }
    if (!hasEffect) this.#skipped += 1;
  }

  /** A model may state one thing twice, in words of which only some are known as forgotten. */
  async #withoutForgotten(statements: readonly Statement[]): Promise<Statement[]> {
    const forgotten: Statement[] = [];
    for (const statement of statements) {
      const quotes = await forgottenQuotes(this.#tx, this.#accountId, statement);
      if (quotes.length > 0) forgotten.push({ ...statement, quotes });
    }
    return statements.map((statement) => ({ ...statement, quotes: quotesBeside(statement, forgotten) }));
  }

  async #storeOne(
    newStatement: Statement,
    { tier, id, episodeIds }: FactSource,
    hasRoom: boolean,
  ): Promise<'made' | 'changed' | 'nothing'> {
    const [tx, accountId] = [this.#tx, this.#accountId];
    const quotes = await withoutForgotten(tx, accountId, newStatement.quotes, passagesOverlap);
    if (!quotes.some(({ own }) => own)) return 'nothing';
    const statement = { ...newStatement, quotes };
    const evidence = { quotes, episodeIds };
    const decision = reconcile(statement, await knownFacts(tx, accountId, statement));
    switch (decision.outcome) {
      case 'known':
        return 'nothing';
      case 'evidence':
        // A fact stored without quotes needs no evidence. With a quote, it would be deleted together with the quoted
        // row.
        if (decision.fact.quotes.length === 0) return 'nothing';
        return (await addEvidence(tx, accountId, decision.fact, evidence))
          ? this.#markUpdated(decision.fact.id)
          : 'nothing';
      case 'rewording':
        // Keeps the wording of a fact that this batch created: it comes from an earlier, and so more important,
        // statement.
        if (this.#createdIds.has(decision.fact.id)) return 'nothing';
        await rewordFact(tx, accountId, decision.fact.id, statement, this.#extracted.model);
        await addEvidence(tx, accountId, decision.fact, evidence);
        return this.#markUpdated(decision.fact.id);
      case 'new':
      case 'former': {
        if (!hasRoom) return 'nothing';
        const isRewritten = tier === 'fact' && !this.#updatedIds.has(id);
        const fact = await addFact(tx, accountId, statement, {
          id: isRewritten ? id : undefined,
          model: this.#extracted.model,
        });
        await addEvidence(tx, accountId, { id: fact, quotes: [] }, evidence);
        if (decision.outcome === 'former')
          await supersede(tx, accountId, fact, decision.fact.id, decision.end);
        for (const { fact: old, end } of decision.supersedes) {
          await supersede(tx, accountId, old.id, fact, end);
          this.#markUpdated(old.id);
        }
        (isRewritten ? this.#updatedIds : this.#createdIds).add(fact);
        return 'made';
      }
    }
  }

  #markUpdated(id: string): 'changed' {
    this.#updatedIds.add(id);
    return 'changed';
  }
}
