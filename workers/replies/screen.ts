import { isDictation } from '../../shared/domain/replies/dictation.ts';
import type { FittedMaterial } from '../../shared/domain/replies/material.ts';
import type { PromptReply } from '../../shared/domain/replies/vote.ts';

export interface ScreenedMaterial {
  material: FittedMaterial;
  withheld: string[];
  isDictated: boolean;
}

/** Removes texts that command the predictor or dictate a reply, so that the model never sees them. */
export function screenMaterial(prompts: readonly string[], material: FittedMaterial): ScreenedMaterial {
  const profile = textsIn(material.profile).some(isDictation) ? null : material.profile;
  const facts = material.facts.filter(({ text }) => !isDictation(text));
  const episodes = material.episodes.filter(
    ({ title, summary }) => !isDictation(title) && !isDictation(summary),
  );
  const raw = material.raw.filter(({ content }) => !isDictation(content));
  const examples = material.examples.filter(isHarmless);
  const screenedMaterial = { ...material, profile, facts, episodes, raw, examples };
  const withheld = (['facts', 'episodes', 'raw', 'examples'] as const).flatMap((tier) =>
    withheldFrom(material[tier], screenedMaterial[tier]),
  );
  return {
    material: screenedMaterial,
    withheld: [...new Set(withheld)],
    isDictated: prompts.some(isDictation),
  };
}

/** Screens one prompt and its examples. The rest of the material was screened before. */
export function screenExamples(
  prompts: readonly string[],
  material: FittedMaterial,
  before: Pick<ScreenedMaterial, 'withheld'>,
): ScreenedMaterial {
  const examples = material.examples.filter(isHarmless);
  const withheld = withheldFrom(material.examples, examples);
  return {
    material: { ...material, examples },
    withheld: [...new Set([...before.withheld, ...withheld])],
    isDictated: prompts.some(isDictation),
  };
}

function withheldFrom(rows: readonly { id: string }[], remaining: readonly object[]): string[] {
  const kept = new Set(remaining);
  return rows.flatMap((row) => (kept.has(row) ? [] : row.id));
}

const isHarmless = (pair: PromptReply) => !isDictation(pair.prompt) && !isDictation(pair.reply);

/** Returns all texts in a JSON value, including the names of properties. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [name, ...textsIn(part)]);
}
