import { seededRandom } from '../memory/random.ts';

/** Returns numbers from 0 to 1 that are the same in every run with the same seed. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  return seededRandom(seed).next;
}

export function pick<T>(from: readonly [T, ...T[]], random: Random): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}
