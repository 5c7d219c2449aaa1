import type { EntityManager } from '@mikro-orm/postgresql';
import { overlap } from '../../../domain/facts/passage.ts';
import { haveSamePassage, reconcile } from '../../../domain/facts/reconcile.ts';
import type { FactSource } from '../../../domain/facts/source.ts';
import type { Statement } from '../../../domain/facts/statement.ts';
import { changeMemory } from './change.ts';
import { sourcesOf } from './fact-sources.ts';
import { addEvidence, addFact, reword, supersede } from './facts.ts';
import { deleteFacts } from './forget-derived.ts';
import { knownFacts, type RelatedFact, shownFacts, withoutForgotten } from './known-facts.ts';
import { clearFailures } from './set-aside.ts';

/** Statements that were found in sources, with the sources as they were then. */
export interface Distilled {
  sources: readonly FactSource[];
  /** The facts that a model was shown beside them. */
  related: readonly RelatedFact[];
  /** The statements of each source, in the order of the sources; the most important first. */
  statements: readonly (readonly Statement[])[];
  /** Null: found by patterns. */
  model: string | null;
  /** Most new facts in all, and most passages of one source that they are of. */
  limits: { inAll: number; ofSource: number };
}

/** The outcome of storing: `ids` of the facts created or changed. `skipped` counts sources of which nothing was made. */
export interface Stored {
  created: number;
  skipped: number;
  ids: string[];
}

/** Memory has changed since the sources were read: what was found in them may repeat what was deleted meanwhile. */
export class SourcesChanged extends Error {
  override readonly name = 'SourcesChanged';
}

/**
 * Makes facts of what was found, in one transaction with whatever `within` does: each statement is compared with what
 * memory knows at that moment, and the episodes count as promoted. A stale fact gets the first new statement of what it is
 * still derived from, or is deleted. Throws `SourcesChanged` when a source is not what it was, and `not_authenticated`
 * when the account is gone or being erased; nothing is changed then.
 */
export function storeStatements(
  em: EntityManager,
  accountId: string,
  distilled: Distilled,
  within: (tx: EntityManager, stored: Stored) => Promise<void>,
): Promise<void> {
  return changeMemory(em, accountId, async (tx) => {
    await checkUnchanged(tx, accountId, distilled);
    const storing = new Storing(tx, accountId, distilled);
    for (const [place, source] of distilled.sources.entries())
      await storing.store(source, distilled.statements[place] ?? []);
    await markPromoted(tx, accountId, distilled.sources);
    await within(tx, storing.stored);
  });
}

async function checkUnchanged(tx: EntityManager, accountId: string, { sources, related }: Distilled) {
  const now = await sourcesOf(tx, accountId, sources);
  const facts = await shownFacts(
    tx,
    accountId,
    related.map(({ id }) => id),
  );
  const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (!isSame(now, sources) || !isSame(facts, related)) throw new SourcesChanged();
}

async function markPromoted(tx: EntityManager, accountId: string, sources: readonly FactSource[]) {
  const episodes = sources.filter(({ tier }) => tier === 'episode').map(({ id }) => id);
  await tx.execute(
    `update episodes set promoted_at = now()
      where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
    [accountId, JSON.stringify(episodes)],
  );
  await clearFailures(tx, accountId, { episodes });
}

/** One batch being stored: what it has changed so far. */
class Storing {
  readonly #tx: EntityManager;
  readonly #accountId: string;
  readonly #model: string | null;
  readonly #limits: Distilled['limits'];
  readonly #created = new Set<string>();
  readonly #updated = new Set<string>();
  #skipped = 0;

  constructor(tx: EntityManager, accountId: string, { model, limits }: Distilled) {
    this.#tx = tx;
    this.#accountId = accountId;
    this.#model = model;
    this.#limits = limits;
  }

  get stored(): Stored {
    const ids = [...this.#created.union(this.#updated)];
    return { created: this.#created.size, skipped: this.#skipped, ids };
  }

  async store(source: FactSource, statements: readonly Statement[]): Promise<void> {
    const isFact = source.tier === 'fact';
    // Facts that it superseded hold again, and are superseded anew by what contradicts them.
    if (isFact) await deleteFacts(this.#tx, this.#accountId, [source.id]);
    const limit = isFact ? 1 : this.#limits.ofSource;
    // Statements of one passage count once, so that the other passages of the source have their turn.
    const passages: Statement[] = [];
    let changed = false;
    for (const statement of statements) {
      const isOfPassage = !isFact && passages.some((one) => haveSamePassage(one, statement));
      const room = (isOfPassage || passages.length < limit) && this.#created.size < this.#limits.inAll;
      const done = await this.#storeOne(statement, source, room);
      changed ||= done !== 'nothing';
      if (done === 'made' && !isOfPassage) passages.push(statement);
    }
    if (!changed) this.#skipped += 1;
  }

  async #storeOne(
    found: Statement,
    { tier, id, episodeIds }: FactSource,
    room: boolean,
  ): Promise<'made' | 'changed' | 'nothing'> {
    const [tx, accountId] = [this.#tx, this.#accountId];
    const quotes = await withoutForgotten(tx, accountId, found.quotes, overlap);
    if (!quotes.some(({ own }) => own)) return 'nothing';
    const statement = { ...found, quotes };
    const evidence = { quotes, episodeIds };
    const decision = reconcile(statement, await knownFacts(tx, accountId, statement));
    switch (decision.as) {
      case 'known':
        return 'nothing';
      case 'evidence':
        return (await addEvidence(tx, accountId, decision.of.id, evidence))
          ? this.#update(decision.of.id)
          : 'nothing';
      case 'rewording':
        // The same answer made it: the more important wording came first.
        if (this.#created.has(decision.of.id)) return 'nothing';
        await reword(tx, accountId, decision.of.id, statement, this.#model);
        await addEvidence(tx, accountId, decision.of.id, evidence);
        return this.#update(decision.of.id);
      case 'new':
      case 'former': {
        if (!room) return 'nothing';
        const isRewritten = tier === 'fact' && !this.#updated.has(id);
        const fact = await addFact(tx, accountId, statement, {
          id: isRewritten ? id : undefined,
          model: this.#model,
          former: decision.as === 'former' ? { by: decision.of.id, end: decision.end } : null,
        });
        await addEvidence(tx, accountId, fact, evidence);
        for (const { fact: old, end } of decision.as === 'new' ? decision.supersedes : []) {
          await supersede(tx, accountId, old.id, fact, end);
          this.#update(old.id);
        }
        (isRewritten ? this.#updated : this.#created).add(fact);
        return 'made';
      }
    }
  }

  #update(id: string): 'changed' {
    this.#updated.add(id);
    return 'changed';
  }
}
