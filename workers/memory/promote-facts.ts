import type { EntityManager } from '@mikro-orm/postgresql';
import { changeMemory } from '../../shared/db/stores/memory/change.ts';
import {
  countSetAsideSources,
  factSources,
  type SourceToPromote,
  sourcesOf,
} from '../../shared/db/stores/memory/fact-sources.ts';
import { relatedFacts } from '../../shared/db/stores/memory/known-facts.ts';
import {
  changesFacts,
  type ExtractedStatements,
  type StoreResult,
  storeStatements,
} from '../../shared/db/stores/memory/promote-facts.ts';
import { type FactSource, fitSources, hasEvidence } from '../../shared/domain/facts/source.ts';
import { isEvidence, type Statement } from '../../shared/domain/facts/statement.ts';
import { promoteFacts } from '../../shared/work/kinds.ts';
import { NO_USAGE, type ProviderError, type Usage } from '../providers/provider.ts';
import type { Handler } from '../work/handler.ts';
import { firstStatementsIn } from './extract-facts.ts';
import { FACTS_MAX, factsQuestion } from './facts-prompt.ts';
import { checkProposals } from './gate.ts';
import {
  Promotion,
  type PromotionDependencies,
  type PromotionProgress,
  type PromotionSteps,
  TRIES_MAX,
} from './promotion.ts';

const SOURCES_PER_QUESTION = 8;
/** Number of UTF-16 units: about 10,000 tokens. */
const ROWS_CHARS_MAX = 40_000;
const KNOWN_FACTS_MAX = 10;
const EXTRACTED_FACTS_MAX = 40;

type Sources = readonly SourceToPromote[];

/**
 * Stores the results of an answer in one transaction with the progress, so that a later attempt continues where this
 * attempt ended.
 */
export function createPromoteFactsHandler(dependencies: PromotionDependencies): Handler<typeof promoteFacts> {
  return async (claim, context) => {
    const promotion = await Promotion.open({ ...dependencies, claim, context });
    return promotion.perform(promoteFacts, new FactSteps(promotion));
  };
}

class FactSteps implements PromotionSteps<Sources> {
  /** Always false, because `promote` reads changed sources again at once. */
  readonly hasChanged = false;
  readonly #promotion: Promotion;
  readonly #doneIds = new Set<string>();

  constructor(promotion: Promotion) {
    this.#promotion = promotion;
  }

  async findPieces(): Promise<Sources[]> {
    const { accountId, selection, left } = this.#promotion;
    const found = left > 0 ? await factSources(this.#promotion.em(), accountId, selection, left) : [];
    this.#promotion.expectSteps(found.length);
    return chunksOf(found);
  }

  async promote(sources: Sources): Promise<boolean> {
    let left = this.#leftOf(sources);
    let hasAsked = false;
    for (let tries = TRIES_MAX; left.length > 0 && tries > 0; ) {
      const before = left.length;
      hasAsked = (await this.#promoteSome(left)) || hasAsked;
      left = this.#leftOf(left);
      if (left.length === before) tries -= 1;
    }
    return hasAsked;
  }

  split(sources: Sources): Sources[] {
    return this.#leftOf(sources).map((source) => [source]);
  }

  setAside(sources: Sources, failure: ProviderError): Promise<void> {
    const left = this.#leftOf(sources);
    const idsOf = (wanted: string) => left.flatMap(({ tier, id }) => (tier === wanted ? id : []));
    return this.#promotion.setAside({ episodes: idsOf('episode'), facts: idsOf('fact') }, failure);
  }

  countSetAside(): Promise<number> {
    const { accountId, selection, left } = this.#promotion;
    return countSetAsideSources(this.#promotion.em(), accountId, selection, left);
  }

  #leftOf(sources: Sources): Sources {
    return sources.filter(({ id }) => !this.#doneIds.has(id));
  }

  /** Stores nothing if memory changes meanwhile. Resolves with whether a model was asked. */
  async #promoteSome(candidates: Sources): Promise<boolean> {
    const { accountId } = this.#promotion;
    const sources = await sourcesOf(this.#promotion.em(), accountId, candidates);
    for (const { id } of candidates) if (!sources.some((source) => source.id === id)) this.#doneIds.add(id);
    if (sources.length === 0) return false;
    const { extraction, usage } = await extractStatements(sources, this.#promotion);
    if (await this.#store(extraction, usage ?? NO_USAGE))
      for (const { id } of extraction.sources) this.#doneIds.add(id);
    return usage !== null;
  }

  #store(extraction: ExtractedStatements, usage: Usage): Promise<boolean> {
    const promotion = this.#promotion;
    const { accountId } = promotion;
    const store = async (tx: EntityManager) => {
      const progress = await promotion.begin(tx);
      const stored = await storeStatements(tx, accountId, extraction);
      await promotion.keep(tx, progressAfter(progress, extraction.sources.length, stored));
    };
    const counts = changesFacts(extraction);
    return promotion.store(usage, () => changeMemory(promotion.em(), accountId, store, { counts }));
  }
}

/** A source whose question failed before gets a separate question, since another source may have caused the failure. */
function chunksOf(found: Sources): Sources[] {
  const fresh = found.filter(({ hasFailed }) => !hasFailed);
  const chunks = Array.from({ length: Math.ceil(fresh.length / SOURCES_PER_QUESTION) }, (_, at) =>
    fresh.slice(at * SOURCES_PER_QUESTION, (at + 1) * SOURCES_PER_QUESTION),
  );
  return [...chunks, ...found.filter(({ hasFailed }) => hasFailed).map((source) => [source])];
}

function progressAfter(
  { steps, considered, created: before, skipped, ids }: PromotionProgress,
  sources: number,
  stored: StoreResult,
): Partial<PromotionProgress> {
  const created = before + stored.created;
  const touchedIds = [...new Set([...ids, ...stored.ids])];
  return {
    steps: { ...steps, done: steps.done + sources },
    considered: considered + sources,
    created,
    updated: touchedIds.length - created,
    skipped: skipped + stored.skipped,
    ids: touchedIds,
  };
}

/**
 * Extracts statements from the first sources: with a model, from as many as fit into one question; without a model,
 * from the first source only. `usage` is null if no model was asked.
 */
async function extractStatements(
  sources: readonly FactSource[],
  promotion: Promotion,
): Promise<{ extraction: ExtractedStatements; usage: Usage | null }> {
  const { ask, model, accountId } = promotion;
  if (ask === null) return { extraction: await extractByPatterns(sources), usage: null };
  const limits = FACTS_MAX;
  const shownSources = fitSources(sources.filter(hasEvidence), ROWS_CHARS_MAX);
  if (shownSources.length === 0)
    return { extraction: { sources, related: [], statements: [], model, limits }, usage: null };
  const rows = shownSources.flatMap((source) => source.rows);
  const spokenTexts = rows.filter(isEvidence).map(({ content }) => content);
  const related = await relatedFacts(promotion.em(), accountId, spokenTexts.join('\n'), KNOWN_FACTS_MAX);
  const answer = await ask(factsQuestion({ sources: shownSources, known: related }));
  const proposals = answer.state === 'answered' ? answer.value.facts : [];
  const titles = shownSources.map(({ title }) => title);
  const checked = await checkProposals(proposals, { rows, known: related, titles });
  const statements = groupBySource(checked, shownSources);
  const askedSources = sources.filter(({ id }) => shownSources.some((source) => source.id === id));
  const unaskedSources = sources.filter((source) => !hasEvidence(source));
  const extraction = {
    sources: [...askedSources, ...unaskedSources],
    related,
    statements,
    model: answer.model,
    limits,
  };
  return { extraction, usage: answer.usage };
}

async function extractByPatterns([first]: readonly FactSource[]): Promise<ExtractedStatements> {
  const statements = await firstStatementsIn(first?.rows ?? [], EXTRACTED_FACTS_MAX);
  const limits = { inAll: EXTRACTED_FACTS_MAX, ofSource: EXTRACTED_FACTS_MAX };
  return { sources: first ? [first] : [], related: [], statements: [statements], model: null, limits };
}

/** Groups statements by the source of their first quote, since the first quote is in the person's own words. */
function groupBySource(statements: readonly Statement[], shown: readonly FactSource[]): Statement[][] {
  return shown.map(({ rows }) =>
    statements.filter(({ quotes: [first] }) => rows.some(({ id }) => id === first?.rawId)),
  );
}
