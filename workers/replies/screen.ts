import { isDictation } from '../../shared/domain/replies/dictation.ts';
import type { FittedMaterial } from '../../shared/domain/replies/material.ts';
import type { PromptReply } from '../../shared/domain/replies/vote.ts';
import { Slices } from '../../shared/timing/slices.ts';

export interface ScreenedMaterial {
  material: FittedMaterial;
  withheld: string[];
  isDictated: boolean;
}

/**
 * Removes texts that command the predictor or dictate a reply, so that the model never sees them. Reads in slices,
 * because a profile may have thousands of short texts.
 */
export async function screenMaterial(
  prompts: readonly string[],
  material: FittedMaterial,
): Promise<ScreenedMaterial> {
  const slices = new Slices();
  const dictates = async (texts: readonly string[]) => {
    for (const text of texts) {
      await slices.pause();
      if (isDictation(text)) return true;
    }
    return false;
  };
  const withoutDictation = async <Row>(rows: readonly Row[], textsOf: (row: Row) => readonly string[]) => {
    const harmlessRows: Row[] = [];
    for (const row of rows) if (!(await dictates(textsOf(row)))) harmlessRows.push(row);
    return harmlessRows;
  };
  const profile = (await dictates(textsIn(material.profile))) ? null : material.profile;
  const facts = await withoutDictation(material.facts, ({ text }) => [text]);
  const episodes = await withoutDictation(material.episodes, ({ title, summary }) => [title, summary]);
  const raw = await withoutDictation(material.raw, ({ content }) => [content]);
  const examples = await withoutDictation(material.examples, textsOfPair);
  const screenedMaterial = { ...material, profile, facts, episodes, raw, examples };
  const withheld = (['facts', 'episodes', 'raw', 'examples'] as const).flatMap((tier) =>
    withheldFrom(material[tier], screenedMaterial[tier]),
  );
  return {
    material: screenedMaterial,
    withheld: [...new Set(withheld)],
    isDictated: await dictates(prompts),
  };
}

/** Screens one prompt and its examples. The rest of the material was screened before. */
export function screenExamples(
  prompts: readonly string[],
  material: FittedMaterial,
  before: Pick<ScreenedMaterial, 'withheld'>,
): ScreenedMaterial {
  const examples = material.examples.filter((pair) => !textsOfPair(pair).some(isDictation));
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

const textsOfPair = ({ prompt, reply }: PromptReply) => [prompt, reply];

/** Returns all texts in a JSON value, including the names of properties. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [name, ...textsIn(part)]);
}
