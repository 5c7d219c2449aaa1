import { dictates } from '../../shared/domain/replies/dictation.ts';
import type { FittedMaterial } from '../../shared/domain/replies/material.ts';
import type { Pair } from '../../shared/domain/replies/vote.ts';

/** Material without texts that would dictate a reply, and the ids of the rows that were left out. */
export interface Screened {
  material: FittedMaterial;
  withheld: string[];
  /** True if a prompt dictates a reply. */
  isDictated: boolean;
}

/** Removes texts that give orders to the predictor, so that the model never sees them. */
export function screen(prompts: readonly string[], material: FittedMaterial): Screened {
  const profile = textsIn(material.profile).some(dictates) ? null : material.profile;
  const facts = material.facts.filter(({ text }) => !dictates(text));
  const episodes = material.episodes.filter(({ title, summary }) => !dictates(title) && !dictates(summary));
  const raw = material.raw.filter(({ content }) => !dictates(content));
  const examples = material.examples.filter(isHarmless);
  const screened = { ...material, profile, facts, episodes, raw, examples };
  const withheld = (['facts', 'episodes', 'raw', 'examples'] as const).flatMap((tier) => {
    const left = new Set(screened[tier].map(({ id }) => id));
    return material[tier].flatMap(({ id }) => (left.has(id) ? [] : id));
  });
  return { material: screened, withheld: [...new Set(withheld)], isDictated: prompts.some(dictates) };
}

/** Screens one prompt and its examples, beside material that was screened before. */
export function screenBeside(
  prompts: readonly string[],
  material: FittedMaterial,
  before: Pick<Screened, 'withheld'>,
): Screened {
  const examples = material.examples.filter(isHarmless);
  const left = new Set(examples);
  const withheld = material.examples.flatMap((pair) => (left.has(pair) ? [] : pair.id));
  return {
    material: { ...material, examples },
    withheld: [...new Set([...before.withheld, ...withheld])],
    isDictated: prompts.some(dictates),
  };
}

const isHarmless = (pair: Pair) => !dictates(pair.prompt) && !dictates(pair.reply);

/** Returns every text in a JSON value, including the names of properties. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [name, ...textsIn(part)]);
}
