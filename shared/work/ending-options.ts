import type { EndingOptions } from '../db/stores/erasure/work.ts';
import type { Kinds } from './kind.ts';
import type { WakeUps } from './wake-ups.ts';

export function endingOptions(
  kinds: Kinds,
  wakeUps: Pick<WakeUps, 'announceEnded'>,
  recoveryWindowS: number,
): EndingOptions {
  return {
    windowS: recoveryWindowS,
    cancelCodes: new Map(Object.values(kinds).map(({ name, codes }) => [name, codes.cancelled])),
    announceEnded: (ids) => wakeUps.announceEnded(ids),
  };
}
