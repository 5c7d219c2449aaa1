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

interface Raw {
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
  raw: readonly Raw[];
  /** The person's own replies to the most similar prompts. */
  examples: readonly Pair[];
}

/** The material and the prompt, cut to the budget. */
export interface FittedMaterial extends Material {
  prompt: string;
  truncated: boolean;
}

/**
 * The share of the budget that the prompt may take, and of that its beginning when it is cut: its question is at its end.
 */
const PROMPT_SHARE = 1 / 2;
const HEAD_SHARE = 0.3;
/** Examples that count more than facts. */
const FIRST_EXAMPLES = 3;
/** The share of the budget for what the predictions of a batch have in common, and the prompt. The rest is for examples. */
const COMMON_SHARE = 3 / 4;

/**
 * Cuts prompt and material to `budgetTokens`. Rows are whole or left out, in this order: the oldest raw rows
 * first, then episodes, examples, facts that are not pinned, and the profile last.
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
    prompt: joined(head, tail),
    profile: profile && { summary, data },
    facts: [...pinned, ...others],
    examples: [...examples, ...more],
    episodes,
    raw,
    truncated: budget.isExceeded || tail !== undefined,
  };
}

/** The material that the predictions of a batch share: all but the examples, beside any of the prompts. */
export function fitCommon(
  prompts: readonly string[],
  material: Omit<Material, 'examples'>,
  budgetTokens: number,
): FittedMaterial {
  const longest = prompts.reduce((a, b) => (estimateTokens(b) > estimateTokens(a) ? b : a), '');
  return fitMaterial(longest, { ...material, examples: [] }, budgetTokens * COMMON_SHARE);
}

/** One prompt of a batch and its examples, beside what the batch has in common. */
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
    prompt: joined(head, tail),
    examples: examples.filter((pair) => takes(textOfPair(pair))),
    truncated: common.truncated || budget.isExceeded || tail !== undefined,
  };
}

/** Takes whole texts. After the first that does not fit, none does: what comes later is worth less. */
const takingFrom = (budget: TokenBudget) => (text: string) => !budget.isExceeded && budget.takes(text);

const joined = (head: string, tail: string | undefined) =>
  tail === undefined ? head : `${head}\n…\n${tail}`;

const textOfPair = ({ prompt, reply }: Pair) => `${prompt} ${reply}`;

function fitPrompt(prompt: string, tokens: number): { head: string; tail?: string; taken: number } {
  const taken = estimateTokens(prompt);
  if (taken <= tokens) return { head: prompt, taken };
  const head = new TokenBudget(tokens * HEAD_SHARE).beginning(prompt);
  const tail = new TokenBudget(tokens * (1 - HEAD_SHARE)).end(prompt);
  return { head, tail, taken: tokens };
}
