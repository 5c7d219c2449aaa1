import { EVENT_BATCH_MAX, MIB } from '../schemas/limits.ts';
import type { RecordingReceipt } from '../schemas/recording.ts';
import type { ImportedEvent } from './conversation.ts';
import type { FileReport } from './report.ts';

/** In UTF-16 units. A unit takes at most six bytes as JSON, so the batch fits into a request. */
const BATCH_LENGTH_MAX = 2 * MIB;

/** Stores all valid events of a batch or none. Validates as `POST /api/recording/events/` does. */
export type StoreBatch = (events: ImportedEvent[]) => Promise<RecordingReceipt>;

interface Row {
  event: ImportedEvent;
  /** The line that completed the event. */
  line: number;
}

export class Recorder {
  readonly #storeBatch: StoreBatch;
  readonly #report: FileReport;
  #rows: Row[] = [];
  #batchLength = 0;

  constructor(store: StoreBatch, report: FileReport) {
    this.#storeBatch = store;
    this.#report = report;
  }

  get isFull(): boolean {
    return this.#rows.length >= EVENT_BATCH_MAX || this.#batchLength >= BATCH_LENGTH_MAX;
  }

  add(event: ImportedEvent, line: number): void {
    this.#rows.push({ event, line });
    for (const value of Object.values(event)) this.#batchLength += value?.length ?? 0;
  }

  /** Throws the errors of storing. The events are stored nevertheless if only the response was lost. */
  async flush(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#batchLength = 0;
    if (rows.length === 0) return;
    const { accepted, duplicates, invalid } = await this.#storeBatch(rows.map(({ event }) => event));
    this.#report.stored += accepted;
    this.#report.duplicates += duplicates;
    for (const { index, errors } of invalid) {
      this.#report.invalid += 1;
      this.#report.noteProblem(rows[index]?.line ?? 0, errors.join('; '));
    }
  }
}
