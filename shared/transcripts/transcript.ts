import { MIB } from '../schemas/limits.ts';
import { Conversation, type ImportedEvent } from './conversation.ts';
import type { Format, Passage, Reader } from './format.ts';
import { formatOf } from './formats.ts';
import type { FileReport } from './report.ts';

/** A line of a file; without a text it cannot be read, for this reason. */
export type Line = { number: number; bytes: number } & (
  | { text: string }
  | { text: undefined; fault: string }
);

/** Bytes of a line. Longer ones hold images, not words. */
export const LINE_MAX = 64 * MIB;

/** Bounds of the part of a file in which its format must show. */
const SNIFF_LINES = 200;
const SNIFF_BYTES = 16 * MIB;

/** A transcript of a format that shows in one of its first lines. */
export class Transcript {
  readonly #report: FileReport;
  readonly #now: number;
  readonly #conversations = new Map<string, Conversation>();
  #format: Format | undefined;
  #reader: Reader | undefined;
  /** The lines before the one that shows the format. */
  #early: Line[] = [];
  #earlyBytes = 0;

  /** `now` is in milliseconds. Counts what it leaves out in the report. */
  constructor(report: FileReport, now: number) {
    this.#report = report;
    this.#now = now;
  }

  /** True once so much was read without a sign of a format that none will come. */
  get isUnknown(): boolean {
    return this.#early.length >= SNIFF_LINES || this.#earlyBytes >= SNIFF_BYTES;
  }

  /** The events that the line completes. */
  read(line: Line): ImportedEvent[] {
    if (this.#reader !== undefined) return this.#readLine(this.#reader, line);
    this.#early.push(line);
    this.#earlyBytes += line.bytes;
    this.#format = line.text === undefined ? undefined : formatOf(line.text);
    if (this.#format === undefined) return [];
    const reader = this.#format.open();
    this.#reader = reader;
    this.#report.format = this.#format.name;
    const early = this.#early.splice(0);
    return early.flatMap((one) => this.#readLine(reader, one));
  }

  /** The events that the end of the transcript completes. */
  end(isOver?: boolean): ImportedEvent[] {
    return [...this.#conversations.values()].flatMap((conversation) => conversation.end(isOver));
  }

  #readLine(reader: Reader, line: Line): ImportedEvent[] {
    if (line.text === undefined) {
      this.#breaks(line.number, line.fault);
      return [];
    }
    let passage: Passage | undefined;
    try {
      passage = reader.read(line.text);
    } catch {
      // A blank line is none of JSON, and nothing is lost with it.
      if (line.text.trim() !== '') this.#breaks(line.number, 'is broken');
    }
    return passage === undefined ? [] : this.#eventsOf(passage);
  }

  #eventsOf({ session, entries }: Passage): ImportedEvent[] {
    const known = this.#conversations.get(session.id);
    const conversation = known ?? new Conversation(session, this.#format?.name ?? '', this.#now);
    if (known === undefined) this.#conversations.set(session.id, conversation);
    this.#report.skipped += entries.filter(({ kind }) => kind === 'skipped').length;
    return entries.flatMap((entry) => conversation.read(entry));
  }

  #breaks(line: number, fault: string): void {
    this.#report.broken += 1;
    this.#report.note(line, fault);
  }
}
