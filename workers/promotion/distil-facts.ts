import type { EntityManager } from '@mikro-orm/postgresql';
import { relatedFacts } from '../../shared/db/stores/memory/known-facts.ts';
import type { Distilled } from '../../shared/db/stores/memory/promote-facts.ts';
import { statementsIn } from '../../shared/domain/facts/extract.ts';
import { admitted } from '../../shared/domain/facts/gate.ts';
import { type FactSource, fitted, hasEvidence } from '../../shared/domain/facts/source.ts';
import { isEvidence, type Statement } from '../../shared/domain/facts/statement.ts';
import { FACTS_MAX, factsQuestion } from '../prompts/facts.ts';
import type { Charge, Usage } from '../providers/provider.ts';
import type { Allowance } from '../work/handler.ts';
import { answerMs } from './ask.ts';
import { NO_USAGE, type PromotionParts } from './promotion.ts';

/** Code points of rows in one question: about 10,000 tokens. */
const ROOM = 40_000;
/** Known facts that a model is shown. */
const KNOWN_MAX = 10;
/** Sentences of the person's own, all of which are facts; and how many of them are stored at once. */
const EXTRACTED_MAX = 40;

interface Terms extends Pick<PromotionParts, 'providerOf' | 'settings'> {
  charge: Charge;
  allowance: Allowance;
}

/**
 * What some of the sources state, from the first on: in the opinion of a model as far as it can be checked, or by patterns
 * where there is no model. Nobody is asked about sources in which no person speaks.
 */
export async function distil(
  em: EntityManager,
  accountId: string,
  sources: readonly FactSource[],
  model: string,
  { providerOf, settings, charge, allowance }: Terms,
): Promise<{ distilled: Distilled; usage: Usage }> {
  const { ask } = providerOf(model);
  if (ask === null) return { distilled: extracted(sources), usage: NO_USAGE };
  const shown = fitted(sources.filter(hasEvidence), ROOM);
  const nothing = { related: [], statements: [], model, limits: FACTS_MAX };
  if (shown.length === 0) return { distilled: { ...nothing, sources }, usage: NO_USAGE };
  const said = shown.flatMap(({ rows }) => rows.filter(isEvidence).map(({ content }) => content));
  const related = await relatedFacts(em, accountId, said.join('\n'), KNOWN_MAX);
  const question = factsQuestion({ sources: shown, known: related });
  const timeoutMs = answerMs(allowance, settings.providerTimeoutMs);
  const answer = await ask(question, { model, charge, signal: allowance.signal, timeoutMs });
  const done = sources.filter(({ id }) => shown.some((source) => source.id === id));
  const unasked = sources.filter((source) => !hasEvidence(source));
  const base = { sources: [...done, ...unasked], related, model: answer.model, limits: FACTS_MAX };
  // A refusal states nothing.
  const proposals = answer.state === 'answered' ? answer.value.facts : [];
  const rows = shown.flatMap((source) => source.rows);
  const statements = bySource(
    admitted(proposals, { rows, known: related, others: shown.map(({ title }) => title) }),
    shown,
  );
  return { distilled: { ...base, statements }, usage: answer.usage };
}

function extracted([first]: readonly FactSource[]): Distilled {
  const statements = first?.rows.flatMap(statementsIn).slice(0, EXTRACTED_MAX) ?? [];
  const limits = { inAll: EXTRACTED_MAX, ofSource: EXTRACTED_MAX };
  return { sources: first ? [first] : [], related: [], statements: [statements], model: null, limits };
}

/** Each statement with the source of its first quote, which is the person's. */
function bySource(statements: readonly Statement[], shown: readonly FactSource[]): Statement[][] {
  return shown.map(({ rows }) =>
    statements.filter(({ quotes: [first] }) => rows.some(({ id }) => id === first?.rawId)),
  );
}
