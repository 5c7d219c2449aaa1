import { MIB } from '../schemas/limits.ts';
import { Conversation, type ImportedEvent } from './conversation.ts';
import type { Format, Reader, SessionEntries } from './format.ts';
import { formatOf } from './formats.ts';
import type { FileReport } from './report.ts';

/** `fault` is the reason why the line cannot be read. */
export type Line = { number: number; bytes: number } & (
  | { text: string }
  | { text: undefined; fault: string }
);

/** Longer lines contain images, not words. */
export const LINE_BYTES_MAX = 64 * MIB;

/** A file is of unknown format if none is recognised within these lines and bytes. */
const SNIFF_LINES = 200;
const SNIFF_BYTES = 16 * MIB;

export class Transcript {
  readonly #report: FileReport;
  readonly #now: number;
  readonly #conversations = new Map<string, Conversation>();
  #format: Format | undefined;
  #reader: Reader | undefined;
  /** Lines read before the format was recognised. */
  #earlyLines: Line[] = [];
  #earlyBytes = 0;

  /** `now` is in Unix milliseconds. `report` counts skipped messages and broken lines. */
  constructor(report: FileReport, now: number) {
    this.#report = report;
    this.#now = now;
  }

  /** True if no format was recognised in the beginning of the file. */
  get isUnknown(): boolean {
    const isLong = this.#earlyLines.length >= SNIFF_LINES || this.#earlyBytes >= SNIFF_BYTES;
    return this.#reader === undefined && isLong;
  }

  read(line: Line): ImportedEvent[] {
    if (this.#reader !== undefined) return this.#readLine(this.#reader, line);
    this.#earlyLines.push(line);
    this.#earlyBytes += line.bytes;
    this.#format = line.text === undefined ? undefined : formatOf(line.text);
    if (this.#format === undefined) return [];
    const reader = this.#format.open();
    this.#reader = reader;
    this.#report.format = this.#format.name;
    const early = this.#earlyLines.splice(0);
    return early.flatMap((one) => this.#readLine(reader, one));
  }

  end(isOver?: boolean): ImportedEvent[] {
    return [...this.#conversations.values()].flatMap((conversation) => conversation.end(isOver));
  }

  #readLine(reader: Reader, line: Line): ImportedEvent[] {
    if (line.text === undefined) {
      this.#noteBroken(line.number, line.fault);
      return [];
    }
    let sessionEntries: SessionEntries | undefined;
    try {
      sessionEntries = reader.read(line.text);
    } catch {
      // A blank line is not JSON either, but is no fault.
      if (line.text.trim() !== '') this.#noteBroken(line.number, 'is broken');
    }
    return sessionEntries === undefined ? [] : this.#eventsOf(sessionEntries);
  }

  #eventsOf({ session, entries }: SessionEntries): ImportedEvent[] {
    const known = this.#conversations.get(session.id);
    const conversation = known ?? new Conversation(session, this.#format?.name ?? '', this.#now);
    if (known === undefined) this.#conversations.set(session.id, conversation);
    this.#report.skipped += entries.filter(({ kind }) => kind === 'skipped').length;
    return entries.flatMap((entry) => conversation.read(entry));
  }

  #noteBroken(line: number, fault: string): void {
    this.#report.broken += 1;
    this.#report.noteProblem(line, fault);
  }
}
