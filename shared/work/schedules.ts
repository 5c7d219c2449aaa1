import type { Recurrence } from '../config/recurrence.ts';
import type { NewRows } from '../db/stores/memory/due.ts';
import type { PromoteInput, SyncRequest } from '../schemas/jobs.ts';
import type { Kind } from './kind.ts';
import { promoteEpisodes, promoteFacts, sync } from './kinds.ts';

/** A step that queues a job of `kind` for each account with new data for such a job. */
export interface RoundStep {
  kind: Kind;
  /** The rows that are such data. */
  due: NewRows;
  body: SyncRequest | PromoteInput;
}

const PROMOTION_BODY: PromoteInput = { settled_only: true, limit: 500 };

/** The steps of each schedule. A round runs each step for all accounts before it begins the next step. */
export const SCHEDULES: Readonly<Record<keyof Recurrence, readonly RoundStep[]>> = {
  sync: [{ kind: sync, due: 'events', body: {} }],
  promotion: [
    { kind: promoteEpisodes, due: 'rows', body: PROMOTION_BODY },
    { kind: promoteFacts, due: 'episodes', body: PROMOTION_BODY },
  ],
};

export function stepsOfRound(schedule: string): readonly RoundStep[] {
  return Object.entries(SCHEDULES).find(([name]) => name === schedule)?.[1] ?? [];
}
