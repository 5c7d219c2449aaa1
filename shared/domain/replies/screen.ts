import { dictates } from './dictation.ts';
import type { FittedMaterial } from './material.ts';
import type { Pair } from './vote.ts';

/** Material without what would dictate a reply, and the ids of that. */
export interface Screened {
  material: FittedMaterial;
  withheld: string[];
  /** Where something dictates a reply; undefined where nothing does. */
  suspicion: 'prompt' | 'memory' | undefined;
}

/**
 * Takes out of the material what commands whoever predicts. The model never sees it; and because its author may have put more
 * there than was found, nothing that is predicted beside it is sent automatically.
 */
export function screen(asked: readonly string[], material: FittedMaterial): Screened {
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
  const inMemory = withheld.length > 0 || profile !== material.profile;
  const suspicion = asked.some(dictates) ? 'prompt' : inMemory ? 'memory' : undefined;
  return { material: screened, withheld: [...new Set(withheld)], suspicion };
}

/** The same for one prompt with its examples, beside material that was screened before. */
export function screenBeside(
  asked: readonly string[],
  material: FittedMaterial,
  before: Omit<Screened, 'material'>,
): Screened {
  const examples = material.examples.filter(isHarmless);
  const left = new Set(examples);
  const withheld = material.examples.flatMap((pair) => (left.has(pair) ? [] : pair.id));
  const inMemory = withheld.length > 0 || before.suspicion !== undefined;
  return {
    material: { ...material, examples },
    withheld: [...new Set([...before.withheld, ...withheld])],
    suspicion: asked.some(dictates) ? 'prompt' : inMemory ? 'memory' : undefined,
  };
}

const isHarmless = (pair: Pair) => !dictates(pair.prompt) && !dictates(pair.reply);

/** Every text in a JSON value, the names of properties too. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [name, ...textsIn(part)]);
}
