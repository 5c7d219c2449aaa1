import { objectsOf, textOf } from './json.ts';

/** A question with the answers that it offers, as one text. */
export function questionText(question: string, options: unknown): string {
  const lines = objectsOf(options).flatMap(({ label, description }) => {
    const name = textOf(label);
    if (name === undefined) return [];
    const meaning = textOf(description);
    return [meaning ? `- ${name}: ${meaning}` : `- ${name}`];
  });
  return [question, ...lines].join('\n');
}
