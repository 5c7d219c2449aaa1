import { estimateTokens, TokenBudget } from '../../text/tokens.ts';
import type { Pair } from './vote.ts';

interface Fact {
  id: string;
  text: string;
  pinned: boolean;
}

interface Episode {
  id: string;
  title: string;
  summary: string;
}

interface RawRow {
  id: string;
  role: string | null;
  origin: string;
  content: string;
}

/** The material of a reply: an account's memory, the most valuable row of each tier first. */
export interface Material {
  profile: { summary: string; data: Record<string, unknown> } | null;
  facts: readonly Fact[];
  episodes: readonly Episode[];
  raw: readonly RawRow[];
  /** The person's own replies to the most similar prompts. */
  examples: readonly Pair[];
}

/** The material and the prompt, cut to the budget. */
export interface FittedMaterial extends Material {
  prompt: string;
  truncated: boolean;
}

/** Share of the budget that the prompt may take. */
const PROMPT_SHARE = 1 / 2;
/** Share of a cut prompt that its beginning gets. The rest is its end, where the question is. */
const HEAD_SHARE = 0.3;
/** Number of examples that take precedence over facts that are not pinned. */
const FIRST_EXAMPLES = 3;
/** Share of the budget for a batch's prompt and the material that its predictions share. The rest is for examples. */
const COMMON_SHARE = 3 / 4;

/**
 * Cuts prompt and material to `budgetTokens`. Rows are kept whole or left out. They take from the budget in this order:
 * the profile's summary, pinned facts, the first examples, other facts, the profile's data, other examples, episodes,
 * raw rows. After the first text that does not fit, none is taken.
 */
export function fitMaterial(prompt: string, material: Material, budgetTokens: number): FittedMaterial {
  const { head, tail, taken } = fitPrompt(prompt, budgetTokens * PROMPT_SHARE);
  const budget = new TokenBudget(budgetTokens - taken);
  const takes = takingFrom(budget);
  const { profile } = material;
  const summary = takes(profile?.summary ?? '') ? (profile?.summary ?? '') : '';
  const pinned = material.facts.filter((fact) => fact.pinned && takes(fact.text));
  const examples = material.examples.slice(0, FIRST_EXAMPLES).filter((pair) => takes(textOfPair(pair)));
  const others = material.facts.filter((fact) => !fact.pinned && takes(fact.text));
  const data = profile !== null && takes(JSON.stringify(profile.data)) ? profile.data : {};
  const more = material.examples.slice(FIRST_EXAMPLES).filter((pair) => takes(textOfPair(pair)));
  const episodes = material.episodes.filter(({ title, summary: text }) => takes(`${title} ${text}`));
  const raw = material.raw.filter(({ content }) => takes(content));
  return {
    prompt: joinHeadAndTail(head, tail),
    profile: profile && { summary, data },
    facts: [...pinned, ...others],
    examples: [...examples, ...more],
    episodes,
    raw,
    truncated: budget.isExceeded || tail !== undefined,
  };
}

/** Cuts the material shared by the predictions of a batch (all but the examples) to fit beside the longest prompt. */
export function fitCommon(
  prompts: readonly string[],
  material: Omit<Material, 'examples'>,
  budgetTokens: number,
): FittedMaterial {
  const longest = prompts.reduce((a, b) => (estimateTokens(b) > estimateTokens(a) ? b : a), '');
  return fitMaterial(longest, { ...material, examples: [] }, budgetTokens * COMMON_SHARE);
}

/** Cuts one prompt of a batch and its examples, and adds the material that the batch shares. */
export function fitBesideCommon(
  prompt: string,
  common: Omit<FittedMaterial, 'examples' | 'prompt'>,
  examples: readonly Pair[],
  budgetTokens: number,
): FittedMaterial {
  const { head, tail } = fitPrompt(prompt, budgetTokens * COMMON_SHARE * PROMPT_SHARE);
  const budget = new TokenBudget(budgetTokens * (1 - COMMON_SHARE));
  const takes = takingFrom(budget);
  return {
    ...common,
    prompt: joinHeadAndTail(head, tail),
    examples: examples.filter((pair) => takes(textOfPair(pair))),
    truncated: common.truncated || budget.isExceeded || tail !== undefined,
  };
}

/**
 * Makes a function that takes whole texts. After the first that does not fit it takes none: later ones are worth less.
 */
const takingFrom = (budget: TokenBudget) => (text: string) => !budget.isExceeded && budget.takes(text);

const joinHeadAndTail = (head: string, tail: string | undefined) =>
  tail === undefined ? head : `${head}\n…\n${tail}`;

const textOfPair = ({ prompt, reply }: Pair) => `${prompt} ${reply}`;

function fitPrompt(prompt: string, tokens: number): { head: string; tail?: string; taken: number } {
  const taken = estimateTokens(prompt);
  if (taken <= tokens) return { head: prompt, taken };
  const head = new TokenBudget(tokens * HEAD_SHARE).takeBeginning(prompt);
  const tail = new TokenBudget(tokens * (1 - HEAD_SHARE)).takeEnd(prompt);
  return { head, tail, taken: tokens };
}
