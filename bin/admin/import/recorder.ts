import type { Pool } from 'pg';
import type { Quotas } from '../../../shared/config/quotas.ts';
import { isLockTimeout } from '../../../shared/db/faults.ts';
import { recordBatch } from '../../../shared/db/stores/recording/record.ts';
import { checkBatch, receiptOf } from '../../../shared/domain/recording.ts';
import { retry } from '../../../shared/retry.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import { BATCH_MAX } from '../../../shared/schemas/recording.ts';
import type { ImportedEvent } from './conversation.ts';
import type { FileReport } from './report.ts';

/** UTF-16 code units of a batch. */
const BATCH_LENGTH_MAX = 8 * MIB;
const ACCOUNT_LOCKED = { firstMs: 200, longestMs: 2000, tries: 10 };

/** Whose recordings, and how much they may hold. */
export interface Owner {
  pool: Pool;
  accountId: string;
  quotas: Quotas;
}

interface Row {
  event: ImportedEvent;
  /** The line that completed it. */
  line: number;
}

/** Stores the events of one file in batches, by the rules of `POST /api/recording/events/`, and counts what became of them. */
export class Recorder {
  readonly #owner: Owner;
  readonly #report: FileReport;
  #rows: Row[] = [];
  #length = 0;

  constructor(owner: Owner, report: FileReport) {
    this.#owner = owner;
    this.#report = report;
  }

  get isFull(): boolean {
    return this.#rows.length >= BATCH_MAX || this.#length >= BATCH_LENGTH_MAX;
  }

  add(event: ImportedEvent, line: number): void {
    this.#rows.push({ event, line });
    for (const value of Object.values(event)) this.#length += value?.length ?? 0;
  }

  /**
   * Stores what was added, in one transaction. Throws `quota_exceeded` or `not_authenticated`; then none of it was
   * stored.
   */
  async store(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#length = 0;
    if (rows.length === 0) return;
    const { pool, accountId, quotas } = this.#owner;
    const batch = await checkBatch(
      rows.map(({ event }) => event),
      Date.now(),
    );
    const recorded =
      batch.events.length === 0
        ? { accepted: 0, foreign: [] }
        : await retry(() => recordBatch(pool, accountId, batch.events, quotas), {
            ...ACCOUNT_LOCKED,
            when: (error, tries) => isLockTimeout(error) && tries < ACCOUNT_LOCKED.tries,
          });
    const { accepted, duplicates, invalid } = receiptOf(batch, recorded);
    this.#report.stored += accepted;
    this.#report.duplicates += duplicates;
    for (const { index, errors } of invalid) {
      this.#report.invalid += 1;
      this.#report.note(rows[index]?.line ?? 0, errors.join('; '));
    }
  }
}
