import { BOUNDARY, type Corpus } from './corpus.ts';
import { nextToken } from './next-token.ts';

const TOKENS_MAX = 8;
/** Below this there is nothing worth saying. */
const SAY_ABOVE = 0.1;
/** What a continuation must stay as likely as to grow by a further token. */
const GROW_ABOVE = 0.6;
/** A shorter one saves its reader nothing. */
const VISIBLE_MIN = 2;

/** How a draft ends: the begun word, and whether white space was typed last. */
export interface DraftEnd {
  prefix: string;
  spaced: boolean;
}

/** What follows a draft; empty when nothing is likely enough. `confidence` is 0 to 1. */
export interface Continuation {
  text: string;
  confidence: number;
}

/**
 * Continues the draft that the corpus ends with, token by token, as long as the product of their probabilities stays
 * high. The text starts with a space exactly where the draft lacks one.
 */
export function continueDraft(corpus: Corpus, end: DraftEnd): Continuation {
  const context = [...corpus.ids];
  let { prefix, spaced } = end;
  let text = '';
  let confidence = 1;
  for (let count = 0; count < TOKENS_MAX; count++) {
    const next = nextToken(corpus, context, prefix, spaced);
    const token = corpus.tokens[next?.position ?? -1];
    if (next === undefined || token === undefined || next.id === BOUNDARY) break;
    if (confidence * next.probability < (isShort(text) ? SAY_ABOVE : GROW_ABOVE)) break;
    confidence *= next.probability;
    const gap = token.spaced && !spaced && prefix === '' ? ' ' : '';
    text += gap + token.text.slice(prefix.length);
    context.push(next.id);
    prefix = '';
    spaced = false;
  }
  text = text.replace(OPENING_END, '');
  return isShort(text) ? { text: '', confidence: 0 } : { text, confidence };
}

function isShort(text: string): boolean {
  return [...text.trim()].length < VISIBLE_MIN;
}

/** An opening bracket or quote is no end. */
const OPENING_END = /\s*[\p{Ps}\p{Pi}]+$/u;
