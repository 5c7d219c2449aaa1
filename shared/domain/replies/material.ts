import { estimateTokens, TokenBudget } from '../../text/tokens.ts';
import type { EpisodeRow, FactRow, RawRow } from '../context-rows.ts';
import type { PromptReply } from './vote.ts';

/** `on` is the day of a row, in UTC (`dayOf`). */
interface Dated {
  on: string;
}

/** The memory from which a reply is predicted: the most valuable facts and episodes first, and the latest raw rows. */
export interface Material {
  profile: { summary: string; data: Record<string, unknown> } | null;
  facts: readonly (Pick<FactRow, 'id' | 'text' | 'pinned'> & Dated)[];
  episodes: readonly (Pick<EpisodeRow, 'id' | 'title' | 'summary'> & Dated)[];
  raw: readonly (Pick<RawRow, 'id' | 'role' | 'origin' | 'content'> & Dated)[];
  /** The person's own replies to the most similar prompts. */
  examples: readonly PromptReply[];
}

interface FittedTexts extends Material {
  truncated: boolean;
}

export interface FittedMaterial extends FittedTexts {
  prompt: string;
}

/** Share of the budget that the prompt may take. */
const PROMPT_SHARE = 1 / 2;
/** A prompt over its budget keeps its beginning, with this share of the tokens, and its end, where the question is. */
const HEAD_SHARE = 0.3;
/** Number of examples that are taken before any unpinned fact. */
const FIRST_EXAMPLES = 3;
/** In a batch: share of the budget for one prompt and the memory common to all. The prompt's examples get the rest. */
const COMMON_SHARE = 3 / 4;

/** Cuts the middle out of a prompt that exceeds `PROMPT_SHARE`. The material gets the rest of the budget. */
export function fitMaterial(prompt: string, material: Material, budgetTokens: number): FittedMaterial {
  const { head, tail, taken } = fitPrompt(prompt, budgetTokens * PROMPT_SHARE);
  const fittedTexts = fitTexts(material, budgetTokens - taken);
  return {
    ...fittedTexts,
    prompt: joinHeadAndTail(head, tail),
    truncated: fittedTexts.truncated || tail !== undefined,
  };
}

/**
 * Fits the memory common to a batch beside its longest prompt. `truncated` is true if memory was left out, not if a
 * prompt was cut.
 */
export function fitCommon(
  prompts: readonly string[],
  material: Omit<Material, 'examples'>,
  budgetTokens: number,
): FittedTexts {
  const commonTokens = budgetTokens * COMMON_SHARE;
  const longest = prompts.reduce((a, b) => (estimateTokens(b) > estimateTokens(a) ? b : a), '');
  const { taken } = fitPrompt(longest, commonTokens * PROMPT_SHARE);
  return fitTexts({ ...material, examples: [] }, commonTokens - taken);
}

export function fitBesideCommon(
  prompt: string,
  common: Omit<FittedTexts, 'examples'>,
  examples: readonly PromptReply[],
  budgetTokens: number,
): FittedMaterial {
  const { head, tail } = fitPrompt(prompt, budgetTokens * COMMON_SHARE * PROMPT_SHARE);
  const budget = new TokenBudget(budgetTokens * (1 - COMMON_SHARE));
  const take = createTaker(budget);
  return {
    ...common,
    prompt: joinHeadAndTail(head, tail),
    examples: examples.filter((pair) => take(textOfPair(pair))),
    truncated: common.truncated || budget.isExceeded || tail !== undefined,
  };
}

/** Takes whole texts, the most valuable first. After the first text that does not fit, all others are left out. */
function fitTexts(material: Material, budgetTokens: number): FittedTexts {
  const budget = new TokenBudget(budgetTokens);
  const take = createTaker(budget);
  const { profile } = material;
  const summary = take(profile?.summary ?? '') ? (profile?.summary ?? '') : '';
  const pinned = material.facts.filter((fact) => fact.pinned && take(fact.text));
  const examples = material.examples.slice(0, FIRST_EXAMPLES).filter((pair) => take(textOfPair(pair)));
  const others = material.facts.filter((fact) => !fact.pinned && take(fact.text));
  const data = profile !== null && take(JSON.stringify(profile.data)) ? profile.data : {};
  const more = material.examples.slice(FIRST_EXAMPLES).filter((pair) => take(textOfPair(pair)));
  const episodes = material.episodes.filter(({ title, summary: text }) => take(`${title} ${text}`));
  const raw = material.raw.filter(({ content }) => take(content));
  return {
    profile: profile && { summary, data },
    facts: [...pinned, ...others],
    examples: [...examples, ...more],
    episodes,
    raw,
    truncated: budget.isExceeded,
  };
}

const createTaker = (budget: TokenBudget) => (text: string) => !budget.isExceeded && budget.takeWhole(text);

const joinHeadAndTail = (head: string, tail: string | undefined) =>
  tail === undefined ? head : `${head}\n…\n${tail}`;

const textOfPair = ({ prompt, reply }: PromptReply) => `${prompt} ${reply}`;

function fitPrompt(prompt: string, tokens: number): { head: string; tail?: string; taken: number } {
  const taken = estimateTokens(prompt);
  if (taken <= tokens) return { head: prompt, taken };
  const head = new TokenBudget(tokens * HEAD_SHARE).takeBeginning(prompt);
  const tail = new TokenBudget(tokens * (1 - HEAD_SHARE)).takeEnd(prompt);
  return { head, tail, taken: tokens };
}
