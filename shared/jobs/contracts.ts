/**
 * The table of jobs: name → queue and payload. A payload is ids that we issued, nothing else: what is to be done
 * stands in the rows. A new field must be optional, because old jobs may still be queued.
 */
export interface JobPayloads {
  /** Predictions of one app, admitted together: one when it is quiet, up to `most` when it is busy. */
  predict: { ids: string[] };
}

export type JobName = keyof JobPayloads;

interface Contract {
  queue: string;
  /** Most ids in one job. */
  most: number;
}

export const contracts: Record<JobName, Contract> = {
  predict: { queue: 'predict', most: 8 },
};
