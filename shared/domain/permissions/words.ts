import type { Word as ParsedWord, WordPart } from 'unbash';

/** A word without its quotes; as written, where its value is only known when it runs. */
export interface Word {
  text: string;
  isKnown: boolean;
  /** True if it says nothing of the person's: known, or with the result of a command or the folder in it. */
  isPlain: boolean;
}

const PLAIN_VALUE = /^\$(?:[?#]|PWD|HOME|\{(?:PWD|HOME|PIPESTATUS\[[\d@]\])\})$/;
const KNOWN_PARTS = ['Literal', 'Glob', 'SingleQuoted', 'AnsiCQuoted'];

export function wordOf({ value, text, parts }: ParsedWord): Word {
  const isEvery = (part: WordPart, is: (part: WordPart) => boolean): boolean =>
    is(part) || (part.type === 'DoubleQuoted' && part.parts.every((inner) => isEvery(inner, is)));
  const isKnownPart = (part: WordPart) => KNOWN_PARTS.includes(part.type);
  const isPlainPart = (part: WordPart) => isKnownPart(part) || PLAIN_VALUE.test(part.text);
  const isKnown = parts?.every((part) => isEvery(part, isKnownPart)) ?? true;
  const isPlain = isKnown || parts?.every((part) => isEvery(part, isPlainPart)) === true;
  return { text: isKnown ? value : text, isKnown, isPlain };
}
