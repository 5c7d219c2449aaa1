import { MIB } from '../schemas/limits.ts';

/** A line of a file; without a text it cannot be read, for this reason. */
export type Line = { number: number; bytes: number } & (
  | { text: string }
  | { text: undefined; fault: string }
);

/** Bytes of a line. Longer ones hold images, not words. */
export const LINE_MAX = 64 * MIB;
