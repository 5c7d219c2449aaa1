import { normalForm } from '../normal-form.ts';
import { wordsOf } from './text.ts';

/** Words in a row that a reply hardly shares with a prompt by chance. */
const COPIED_WORDS = 8;
/** The raw probability of a reply that only repeats the prompt's words: that of `unlikely`. */
export const COPIED_RAW = 0.25;
/** The confidence in a reply about something that cannot be undone. Below any sensible threshold. */
export const RISKY_CONFIDENCE = 0.49;

/** What can do harm that a later correction does not undo. */
const RISKY = new RegExp(
  [
    String.raw`\b(?:delet(?:e[sd]?|ing|ion)|drop(?:s|ped|ping)?|truncat(?:e[sd]?|ing)|wip(?:e[sd]?|ing)|eras(?:e[sd]?|ing)|destroy(?:s|ed|ing)?|purg(?:e[sd]?|ing))\b`,
    String.raw`\brm -\w*[rf]|\bforce[- ]?push|--force\b|\breset --hard\b|\bdeploy(?:s|ed|ing|ment)?\b|\bproduction\b|\broll(?:ing|ed)? ?back\b`,
    String.raw`\b(?:pay(?:s|ing|ments?)?|paid|purchas(?:e[sd]?|ing)|buy(?:ing)?|refund(?:s|ed|ing)?|invoices?|transfer(?:s|red|ring)?|wire)\b`,
    String.raw`\b(?:credentials?|passwords?|secrets?|tokens?|api keys?|private keys?|permissions?|sudo|root access|chmod|grant(?:s|ed|ing)?|access rights?)\b`,
    String.raw`\b(?:legal(?:ly)?|contracts?|liabilit(?:y|ies)|nda|sign(?:ed|ing)? (?:the|this|an?)|lawsuits?|terms of service|licen[cs]e agreement)\b`,
  ].join('|'),
  'iu',
);

/** Whether a prompt or a reply is about something that cannot be undone. */
export function isRisky(text: string): boolean {
  return RISKY.test(normalForm(text, 'NFKC'));
}

/**
 * Finds out whether a reply has eight words in a row of the prompt which the person has never used. `history`: what they wrote,
 * which is only read for a reply that has some.
 */
export function copiesOf(prompt: string, history: readonly string[]): (reply: string) => boolean {
  const asked = runsOf(prompt);
  let own: Set<string> | undefined;
  return (reply) => {
    const copied = runsOf(reply).intersection(asked);
    if (copied.size === 0) return false;
    own ??= new Set(history.flatMap((text) => [...runsOf(text).intersection(asked)]));
    return copied.difference(own).size > 0;
  };
}

function runsOf(text: string): Set<string> {
  const words = wordsOf(text);
  const runs = new Set<string>();
  for (let from = 0; from + COPIED_WORDS <= words.length; from += 1)
    runs.add(words.slice(from, from + COPIED_WORDS).join(' '));
  return runs;
}
