import { BOUNDARY, type Corpus } from './corpus.ts';
import { nextToken } from './next-token.ts';

const TOKENS_MAX = 8;
/** The least confidence of a continuation. */
const SUGGEST_ABOVE = 0.1;
/** The least confidence with which a continuation grows by another token. */
const GROW_ABOVE = 0.6;
/** A shorter continuation saves no typing. */
const VISIBLE_MIN = 2;

/** How a draft ends: its unfinished word, and whether white space was typed last. */
export interface DraftEnd {
  prefix: string;
  spaced: boolean;
}

/** A continuation of a draft; empty if none is likely enough. `confidence` is 0 to 1. */
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
    if (confidence * next.probability < (isShort(text) ? SUGGEST_ABOVE : GROW_ABOVE)) break;
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

/** A continuation must not end with an opening bracket or quote. */
const OPENING_END = /\s*[\p{Ps}\p{Pi}]+$/u;
