import type { EntityManager } from '@mikro-orm/postgresql';
import type { End } from '../../../domain/work.ts';
import type { Admission } from './admit.ts';
import type { Completion, WorkRef } from './complete.ts';

/** Work that has just been admitted, as a new attempt if it has failed before. */
export type AdmittedWork = Pick<Admission, 'id' | 'party' | 'input' | 'facts'> & { attempt: number };

export type EndedWork<Report = unknown> = WorkRef & End<Report> & Pick<Completion, 'parent' | 'key'>;

/**
 * Writes a kind's own rows, and ends other work along, in the transactions that admit and end its work: once for each
 * admission, and once for each end, whichever process ends the work. The erasure of an account skips it, because it
 * erases these rows too. So do superseding and revoking, which end only the work of apps.
 */
export interface KindRows<Report = unknown> {
  /** True if the rows have the reports of succeeded work, so that its history gets none. */
  readonly takesReports?: boolean;
  admitted?(tx: EntityManager, admitted: readonly AdmittedWork[]): Promise<unknown>;
  /** Called before work ends. May lock other rows, and change how the work ends. */
  ending?(tx: EntityManager, batch: readonly Completion[]): Promise<readonly Completion[]>;
  /** Returns work of the same party that ends along. */
  ended(tx: EntityManager, ended: readonly EndedWork<Report>[]): Promise<readonly Completion[]>;
}
