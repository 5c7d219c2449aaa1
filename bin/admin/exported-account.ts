import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { addMarks, endDanglingReferences } from '../../shared/db/stores/exported-events.ts';
import { type Added, addExported, type ExportedRowType } from '../../shared/db/stores/exported-rows.ts';
import { flawOf } from '../../shared/domain/json-flaw.ts';
import { EXPORTED, type Exported } from '../../shared/schemas/export.ts';
import { EVENT_BATCH_MAX, MIB } from '../../shared/schemas/limits.ts';
import type { RecordingReceipt } from '../../shared/schemas/recording.ts';
import { compile } from '../../shared/schemas/validator.ts';
import { isObject, type JsonObject, tryParseObject } from '../../shared/transcripts/json.ts';
import { type Line, RecordSplitter } from '../../shared/transcripts/records.ts';
import type { FileReport } from '../../shared/transcripts/report.ts';
import { beginsExport } from '../../shared/transcripts/transcript.ts';

const FORMAT = 'forecue';
const BATCH_BYTES_MAX = 4 * MIB;
/** Fewer than a batch of events: a row is compared with what the person forgot. */
const ROWS_AT_ONCE = 200;

interface Into {
  em: EntityManager;
  accountId: string;
  /** Stores events as `POST /api/recording/events/` does; `reported` ones as those of a key that vouches for nobody. */
  record(events: readonly JsonObject[], how: { reported: boolean }): Promise<RecordingReceipt>;
  signal: AbortSignal;
  progress(bytes: number): void;
}

const VALIDATORS = Object.fromEntries(
  Object.entries(EXPORTED).map(([type, schema]) => [type, compile(schema)]),
);

/** Reports whether the file is an export of an account, which begins with the account. */
export async function isExport(path: string): Promise<boolean> {
  // Reading a pipe or a device may never end.
  if (!(await stat(path)).isFile()) return false;
  for await (const { text } of linesIn(path)) return beginsExport(text ?? '');
  return false;
}

/**
 * Stores an export of an account again. Keys, connections and calls of providers are left out: their secrets and the
 * apps are not in it. Counts in `report`, and throws the errors of storing.
 */
export async function importExport(path: string, report: FileReport, into: Into): Promise<void> {
  report.format = FORMAT;
  const importer = new Importer(report, into);
  for await (const line of linesIn(path)) {
    if (into.signal.aborted) break;
    await importer.read(line);
    into.progress(line.bytes);
  }
  await importer.flush();
  await endDanglingReferences(into.em.fork(), into.accountId);
  if (into.signal.aborted) report.failed = 'interrupted';
}

interface Row {
  data: JsonObject;
  line: number;
}

/** Collects lines of one kind, and stores them together. */
class Importer {
  readonly #report: FileReport;
  readonly #into: Into;
  /** Marks of events, by the events' ids. */
  readonly #marks = new Map<unknown, Exported<'mark'>>();
  #type = '';
  #rows: Row[] = [];
  #bytes = 0;

  constructor(report: FileReport, into: Into) {
    this.#report = report;
    this.#into = into;
  }

  async read({ text, number, bytes }: Line): Promise<void> {
    if (text?.trim() === '') return;
    const { type, data } = tryParseObject(text ?? '') ?? {};
    if (typeof type !== 'string' || !isObject(data)) return this.#note(number, 'is broken');
    if (type !== 'event' && !(type in VALIDATORS)) {
      // Sessions come with their events.
      if (type !== 'session') this.#report.skipped += 1;
      return;
    }
    const fault = type === 'event' ? undefined : faultOf(type, data);
    if (fault !== undefined) return this.#note(number, fault);
    // The cast is safe: the line fits its schema.
    if (type === 'mark') this.#marks.set(data['event_id'], data as Exported<'mark'>);
    if (type === 'mark') return;
    const kind = type === 'event' && this.#marks.get(data['id'])?.reported ? 'report' : type;
    const most = type === 'event' ? EVENT_BATCH_MAX : ROWS_AT_ONCE;
    const isFull = this.#rows.length >= most || this.#bytes + bytes > BATCH_BYTES_MAX;
    if (kind !== this.#type || isFull) await this.flush();
    this.#type = kind;
    this.#rows.push({ data, line: number });
    this.#bytes += bytes;
  }

  async flush(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#bytes = 0;
    if (rows.length === 0) return;
    this.#report.noteFound(rows.length);
    if (this.#type === 'event' || this.#type === 'report') await this.#record(rows);
    else await this.#add(this.#type as ExportedRowType, rows);
  }

  async #record(rows: readonly Row[]): Promise<void> {
    const events = rows.map(({ data }) => data);
    const { em, accountId, record } = this.#into;
    const { accepted, duplicates, invalid } = await record(events, { reported: this.#type === 'report' });
    this.#report.stored += accepted;
    this.#report.duplicates += duplicates;
    for (const { index, errors } of invalid) this.#note(rows[index]?.line ?? 0, errors.join('; '));
    const marks = events.flatMap(({ id }) => this.#marks.get(id) ?? []);
    // Not before: an event of a row that was forgotten is not recorded.
    if (marks.length > 0) await addMarks(em.fork(), accountId, marks);
  }

  async #add(type: ExportedRowType, rows: readonly Row[]): Promise<void> {
    const { em, accountId } = this.#into;
    // The cast is safe: each line fits its schema.
    const lines = rows.map(({ data }) => data) as unknown as Parameters<
      typeof addExported<ExportedRowType>
    >[3];
    const { stored, duplicates, erased, refused }: Added = await addExported(
      em.fork(),
      accountId,
      type,
      lines,
    );
    this.#report.stored += stored;
    this.#report.duplicates += duplicates;
    this.#report.skipped += erased;
    this.#report.invalid += refused;
    if (refused > 0)
      this.#report.noteProblem(
        rows[0]?.line ?? 0,
        `and on, ${refused} rows of the type ${type} belong to another account`,
      );
  }

  #note(line: number, fault: string): void {
    this.#report.invalid += 1;
    this.#report.noteProblem(line, fault);
  }
}

function faultOf(type: string, data: JsonObject): string | undefined {
  const result = VALIDATORS[type]?.(data);
  if (result?.ok === false) {
    const [{ loc, msg } = { loc: [], msg: '' }] = result.faults;
    return [...loc.slice(1), msg].join(': ');
  }
  return flawOf(data);
}

async function* linesIn(path: string): AsyncGenerator<Line> {
  const splitter = new RecordSplitter();
  for await (const chunk of createReadStream(path, { highWaterMark: MIB }) as AsyncIterable<Buffer>)
    yield* splitter.push(chunk);
  yield* splitter.end();
}
