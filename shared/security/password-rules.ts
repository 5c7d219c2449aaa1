import { COMMON_PASSWORDS } from './common-passwords.ts';

/** Why a new password is too easy to guess, as a sentence for people; undefined when it is not. */
export function weaknessOf(password: string, email: string): string | undefined {
  const folded = fold(password);
  if (COMMON_PASSWORDS.has(folded)) return 'This password is too common';
  if (isPlainSequence(folded)) return 'A password should not be one character repeated, or a plain sequence';
  if (folded === fold(email)) return 'A password should not be the e-mail address';
  return undefined;
}

function fold(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

/** `aaaaaaaaaa`, `abcdefghij`, `9876543210`: a constant step from each character to the next. */
function isPlainSequence(text: string): boolean {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(points.slice(1).map((point, i) => point - (points[i] ?? 0)));
  const [step = 0] = steps;
  return steps.size <= 1 && Math.abs(step) <= 1;
}
