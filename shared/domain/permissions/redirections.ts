import type { Redirection } from 'unbash';
import { partOfPath } from './files.ts';
import { type Part, partOf } from './permission.ts';
import { placeOf, type Where } from './places.ts';
import type { Word } from './words.ts';

/** Text of a redirection, with what `<<` gives. */
export function textOf(redirect: Redirection, source: string): string {
  const text = source.slice(redirect.pos, redirect.end);
  return redirect.type === 'HereDoc' ? `${text}\n${redirect.body?.text}` : text;
}

/** What is read or written is alike by its place, but the very same only with the same texts. */
export const exactly = (part: Part, texts: readonly string[]): Part => ({
  ...part,
  exact: JSON.stringify([part.exact, ...texts]),
});

export function partOfFile(verb: 'read' | 'write', { text, isKnown, isPattern }: Word, where: Where): Part {
  if (!isKnown || isPattern === true) return partOf('never', ['redirection', text]);
  return partOfPath(verb, placeOf(text, where));
}
