import type { Called } from './called.ts';
import type { Word } from './words.ts';

/** Programs that say something, wait or end. `test` and `printf` evaluate the name of a variable. */
const TEXT_PROGRAMS = ['echo', 'printf', 'true', 'false', 'test', '[', 'sleep', ':', 'exit', 'wait'];
const SECRET_NAME =
  /token|secret|pass(w|p|\b)|credential|api_?key|[a-z]_(key|pat|pwd|dsn)\b|private|database_url/i;

export const saysText = (name: string) => TEXT_PROGRAMS.includes(name);

/** How dangerous it is that a program says this. */
export function levelOfText(name: string, words: readonly Word[]): 'harmless' | 'strict' | 'never' {
  const isRun = ({ text, isKnown }: Word) => name !== 'echo' && isKnown && /\$\(|`/.test(text);
  const isSecret = ({ text, isKnown }: Word) => !isKnown && SECRET_NAME.test(text);
  if (words.some((word) => isRun(word) || isSecret(word))) return 'never';
  return words.every(({ isPlain }) => isPlain) ? 'harmless' : 'strict';
}

/** Words with which these programs only pass on what another says. */
const FILTERS: Readonly<Record<string, RegExp>> = {
  head: /^(-[nc]?\d*|-[nc]|\d+)$/,
  tail: /^(-[nc]?\+?\d*|-[nc]|\+?\d+)$/,
  wc: /^-[lwcm]+$/,
  sort: /^-[nrufhbV]+$/,
  uniq: /^-[cdui]+$/,
  cut: /^(-[dfcb].{0,20}|[\d,-]+|\W)$/,
  tr: /^/,
  nl: /^$/,
  tac: /^$/,
  rev: /^$/,
  column: /^-t$/,
  cat: /^-[nA]$/,
};
const GREPS = ['grep', 'egrep', 'fgrep'];

/** Reports whether the call passes on what another program says, and does nothing else. */
export function isFilter({ program: { text: name }, words, isFed }: Called): boolean {
  if (!isFed || !words.every(({ isKnown }) => isKnown)) return false;
  const texts = words.map(({ text }) => text);
  if (!GREPS.includes(name))
    return Object.hasOwn(FILTERS, name) && texts.every((text) => FILTERS[name]?.test(text));
  const others = texts.filter((text) => !/^(-[iEvcnFowx]+|-[ABCm]\d*|\d+)$/.test(text));
  return others.length === 1 && others[0]?.startsWith('-') === false;
}

/** `set` with options that end a script at a fault. Without any it says all variables. */
export function isStricter({ program, words }: Called): boolean {
  return (
    program.text === 'set' &&
    words.length > 0 &&
    words.every(({ text }) => /^([-+][euxo]+|pipefail)$/.test(text))
  );
}
