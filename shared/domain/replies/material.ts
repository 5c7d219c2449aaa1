import { Room } from '../context-envelope.ts';
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

/** What a reply is predicted from: an account's memory, the most valuable row of each tier first. */
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

/** The share of the budget that the prompt may take, and of that its beginning when it is cut: its question is at its end. */
const PROMPT_SHARE = 1 / 2;
const HEAD_SHARE = 0.3;
/** Examples that count more than facts. */
const FIRST_EXAMPLES = 3;

/**
 * As much of prompt and material as fits into `budgetTokens`. Rows are whole or left out, in this order: the oldest raw rows
 * first, then episodes, examples, facts that are not pinned, and the profile last.
 */
export function fitMaterial(prompt: string, material: Material, budgetTokens: number): FittedMaterial {
  const { head, tail, taken } = fitPrompt(prompt, budgetTokens * PROMPT_SHARE);
  const room = new Room(budgetTokens - taken);
  const { profile } = material;
  const summary = room.beginning(profile?.summary ?? '');
  const pinned = material.facts.filter((fact) => fact.pinned && room.holds(fact.text));
  const examples = material.examples.slice(0, FIRST_EXAMPLES).filter((pair) => room.holds(textOfPair(pair)));
  const others = material.facts.filter((fact) => !fact.pinned && room.holds(fact.text));
  const data = profile !== null && room.holds(JSON.stringify(profile.data)) ? profile.data : {};
  const more = material.examples.slice(FIRST_EXAMPLES).filter((pair) => room.holds(textOfPair(pair)));
  const episodes = material.episodes.filter(({ title, summary: text }) => room.holds(`${title} ${text}`));
  const raw = material.raw.filter(({ content }) => room.holds(content));
  return {
    prompt: tail === undefined ? head : `${head}\n…\n${tail}`,
    profile: profile && { summary, data },
    facts: [...pinned, ...others],
    examples: [...examples, ...more],
    episodes,
    raw,
    truncated: room.truncated || tail !== undefined,
  };
}

const textOfPair = ({ prompt, reply }: Pair) => `${prompt} ${reply}`;

function fitPrompt(prompt: string, tokens: number): { head: string; tail?: string; taken: number } {
  const all = new Room(tokens);
  if (all.holds(prompt)) return { head: prompt, taken: all.taken };
  const head = new Room(tokens * HEAD_SHARE).beginning(prompt);
  const tail = new Room(tokens * (1 - HEAD_SHARE)).end(prompt);
  return { head, tail, taken: tokens };
}
