import type { Part } from './permission.ts';
import type { Word } from './words.ts';

/** A program with its words. */
export interface Called {
  program: Word;
  words: readonly Word[];
  variables: readonly string[];
  /** Texts that it reads from the command itself (`<<`). */
  input: readonly string[];
  /** True if it reads what another program writes. */
  isFed: boolean;
}

export type Inner = { script: string } | { call: Called };

/** What a call is, and what it runs in turn. */
export interface Reading {
  part: Part;
  /** True if the part needs nobody's approval, unless another program reads what it says. */
  isHarmless?: boolean;
  inner?: Inner;
  /** What it may run: only what never becomes automatic counts. */
  hidden?: readonly Inner[];
}
