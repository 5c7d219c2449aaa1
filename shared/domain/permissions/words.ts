import type { HereDoc, HereString, Word as ParsedWord, WordPart } from 'unbash';

/** A word without its quotes; as written, where its value is only known when it runs. */
export interface Word {
  text: string;
  isKnown: boolean;
  /** True if it says nothing of the person's: known, or with the result of a command or the folder in it. */
  isPlain: boolean;
  /** True if a shell puts names of files in its place. */
  isPattern?: boolean;
}

const PLAIN_VALUE = /^\$(?:[?#]|PWD|HOME|\{(?:PWD|HOME|PIPESTATUS\[[\d@]\])\})$/;
const KNOWN_PARTS = ['Literal', 'Glob', 'SingleQuoted', 'AnsiCQuoted'];

export function wordOf({ value, text, parts }: Pick<ParsedWord, 'value' | 'text' | 'parts'>): Word {
  const isEvery = (part: WordPart, is: (part: WordPart) => boolean): boolean =>
    is(part) || (part.type === 'DoubleQuoted' && part.parts.every((inner) => isEvery(inner, is)));
  const isKnownPart = (part: WordPart) => KNOWN_PARTS.includes(part.type);
  const isPlainPart = (part: WordPart) => isKnownPart(part) || PLAIN_VALUE.test(part.text);
  const isKnown = parts?.every((part) => isEvery(part, isKnownPart)) ?? true;
  const isPlain = isKnown || parts?.every((part) => isEvery(part, isPlainPart)) === true;
  const isPattern = parts?.some(({ type }) => type === 'Glob') === true;
  return { text: isKnown ? value : text, isKnown, isPlain, isPattern };
}

/** What `<<` or `<<<` gives to a program. */
export function wordGiven(redirect: HereDoc | HereString): Word {
  if (redirect.type === 'HereDoc') {
    const { text, parts } = redirect.body;
    return wordOf({ value: text, text, parts });
  }
  return redirect.target === undefined
    ? { text: '', isKnown: false, isPlain: false }
    : wordOf(redirect.target);
}
