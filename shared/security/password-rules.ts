import { readFileSync } from 'node:fs';

/** Returns why the password is too easy to guess, as a sentence for users; undefined if it is not. */
export function weaknessOf(password: string, email: string): string | undefined {
  const folded = fold(password);
  if (COMMON_PASSWORDS.has(folded) || isDecorated(folded)) return 'This password is too common';
  if (isPlainSequence(folded) || REPEATED_UNIT.test(folded))
    return 'A password should not be a few characters repeated, or a plain sequence';
  const address = fold(email);
  if (folded === address || folded === address.split('@', 1)[0])
    return 'A password should not be the e-mail address or its first part';
  return undefined;
}

function fold(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

/** Recognises `aaaaaaaaaa`, `abcdefghij` and `9876543210`. */
function isPlainSequence(text: string): boolean {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(points.slice(1).map((point, i) => point - (points[i] ?? 0)));
  const [step = 0] = steps;
  return steps.size <= 1 && Math.abs(step) <= 1;
}

/** Matches `abcabcabcabc`. */
const REPEATED_UNIT = /^([a-z\d]{1,8})\1+$/;

const NON_LETTERS_AROUND = /^[^\p{L}]+|[^\p{L}]+$/gu;
const MARKS_BETWEEN = /[\s._-]+/g;
const WORD_MIN = 4;
/** More characters around a word are hard to guess by themselves. */
const DECORATION_MAX = 6;

/** Recognises one or two words of common passwords with a year or a mark around them: `Summer2027!`, `pass-word`. */
function isDecorated(text: string): boolean {
  const core = text.replace(NON_LETTERS_AROUND, '');
  if (text.length - core.length > DECORATION_MAX) return false;
  const words = core.replace(MARKS_BETWEEN, '');
  return Array.from(words).some(
    (_, at) => COMMON_WORDS.has(words.slice(at)) && (at === 0 || COMMON_WORDS.has(words.slice(0, at))),
  );
}

/** Passwords from published lists of leaks, in lower case. Shorter passwords are refused for their length. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n'),
);

const LANGUAGES = ['en', 'de', 'fr', 'es'];

/** Names of months and weekdays. People add the year to the month in which they must choose a new password. */
const DATE_WORDS = LANGUAGES.flatMap((language) =>
  (['month', 'weekday'] as const).flatMap((part) => {
    const name = new Intl.DateTimeFormat(language, { [part]: 'long', timeZone: 'UTC' });
    return Array.from({ length: 12 }, (_, at) => fold(name.format(Date.UTC(2026, at, 1 + at))));
  }),
);

const MORE_WORDS =
  'frühling sommer herbst hallo passwort geheim willkommen schatz printemps automne hiver bonjour bienvenue soleil ' +
  'primavera verano otoño invierno hola bienvenido contraseña world';

const COMMON_WORDS: ReadonlySet<string> = new Set(
  [...COMMON_PASSWORDS, ...DATE_WORDS, ...MORE_WORDS.split(' ')]
    .map((password) => password.replace(NON_LETTERS_AROUND, ''))
    .filter((word) => word.length >= WORD_MIN),
);
