import type { EndingOptions } from '../db/stores/erasure/work.ts';
import type { Kinds } from './kind.ts';
import type { WakeUps } from './wake-ups.ts';

/** Orders the kinds so that parents end before their parts, because callers wait for the parents. */
export function endingOptions(
  kinds: Kinds,
  wakeUps: Pick<WakeUps, 'announceEnded'>,
  recoveryWindowS: number,
): EndingOptions {
  const all = Object.values(kinds);
  const parts = new Set(all.flatMap((kind) => kind.parts?.name ?? []));
  const inOrder = all.toSorted((a, b) => Number(parts.has(a.name)) - Number(parts.has(b.name)));
  return {
    windowS: recoveryWindowS,
    cancelCodes: new Map(inOrder.map(({ name, codes }) => [name, codes.cancelled])),
    announceEnded: (ids) => wakeUps.announceEnded(ids),
  };
}
