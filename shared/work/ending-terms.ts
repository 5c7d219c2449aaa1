import type { EndingTerms } from '../db/stores/erasure/jobs.ts';
import type { Kinds } from './kind.ts';
import type { WakeUps } from './wake-ups.ts';

/** How a process ends the work of revoked connections and erased accounts. */
export function endingTerms(
  kinds: Kinds,
  wakeUps: Pick<WakeUps, 'ended'>,
  recoveryWindowS: number,
): EndingTerms {
  const all = Object.values(kinds);
  const parts = new Set(all.flatMap((kind) => kind.parts?.name ?? []));
  // Parts last: callers wait for the whole.
  const inOrder = all.toSorted((a, b) => Number(parts.has(a.name)) - Number(parts.has(b.name)));
  return {
    windowS: recoveryWindowS,
    cancelled: new Map(inOrder.map(({ name, codes }) => [name, codes.cancelled])),
    ended: (ids) => wakeUps.ended(ids),
  };
}
