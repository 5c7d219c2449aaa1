import { EVENT_BATCH_MAX, MIB } from '../schemas/limits.ts';
import type { RecordingReceipt } from '../schemas/recording.ts';
import type { ImportedEvent } from './conversation.ts';
import type { FileReport } from './report.ts';

/** In UTF-16 units. A unit takes at most six bytes as JSON, so the batch fits into a request. */
const BATCH_LENGTH_MAX = 2 * MIB;

/** Stores all valid events of a batch or none. Validates as `POST /api/recording/events/` does. */
export type StoreBatch = (events: ImportedEvent[]) => Promise<RecordingReceipt>;

/** Returns the id of the account that imports; undefined if the credential may not read it. */
export type FindOwner = () => Promise<string | undefined>;

interface Row {
  event: ImportedEvent;
  /** The line that completed the event. */
  line: number;
}

interface Refusal {
  row: Row;
  errors: readonly string[];
}

const FOREIGN_SESSION = 'session belongs to another user';

export class Recorder {
  readonly #storeBatch: StoreBatch;
  readonly #report: FileReport;
  readonly #findOwner: FindOwner;
  /** Ids of sessions that another account has recorded, and our names for them. */
  readonly #ownNames = new Map<string, string>();
  #rows: Row[] = [];
  #batchLength = 0;

  constructor(store: StoreBatch, report: FileReport, findOwner: FindOwner) {
    this.#storeBatch = store;
    this.#report = report;
    this.#findOwner = findOwner;
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
    const refusals = await this.#store(rows);
    const foreign = refusals.filter(({ errors }) => errors.includes(FOREIGN_SESSION));
    const others = refusals.filter((refusal) => !foreign.includes(refusal));
    for (const { row, errors } of [...others, ...(await this.#storeAsOwn(foreign))]) {
      this.#report.invalid += 1;
      this.#report.noteProblem(row.line, errors.join('; '));
    }
  }

  async #store(rows: readonly Row[]): Promise<Refusal[]> {
    if (rows.length === 0) return [];
    const { accepted, duplicates, invalid } = await this.#storeBatch(
      rows.map(({ event }) => {
        const sessionId = event['session_id'] ?? '';
        return { ...event, session_id: this.#ownNames.get(sessionId) ?? sessionId };
      }),
    );
    this.#report.stored += accepted;
    this.#report.duplicates += duplicates;
    return invalid.flatMap(({ index, errors }) => {
      const row = rows[index];
      return row === undefined ? [] : [{ row, errors }];
    });
  }

  /**
   * Stores sessions that another account has recorded under names that contain our account. So people of a team can
   * import the same files.
   */
  async #storeAsOwn(foreign: readonly Refusal[]): Promise<Refusal[]> {
    const owner = foreign.length === 0 ? undefined : await this.#findOwner();
    if (owner === undefined)
      return foreign.map(({ row }) => ({ row, errors: ['this session was imported by another account'] }));
    for (const { row } of foreign) {
      const sessionId = row.event['session_id'] ?? '';
      this.#ownNames.set(sessionId, `${sessionId}@${owner}`);
    }
    return this.#store(foreign.map(({ row }) => row));
  }
}
