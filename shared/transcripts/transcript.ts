import { MIB } from '../schemas/limits.ts';
import { Conversation, type ImportedEvent } from './conversation.ts';
import type { Entry, Format, Reader, Session, SessionEntries } from './format.ts';
import { timeOfMs } from './formats/times.ts';
import { formatOf } from './formats.ts';
import { isObject, parseObject, tryParseObject } from './json.ts';
import { LINE_BYTES_MAX, type Line } from './records.ts';
import type { FileReport } from './report.ts';

/** A file is of unknown format if none is recognised within these lines and bytes. */
const SNIFF_LINES = 200;
const SNIFF_BYTES = 16 * MIB;

/** Says where an export of an account is taken: it holds memory too, which no transcript has. */
const OWN_EXPORT =
  'it is an export of a Forecue account, which the server stores again: `admin import --user EMAIL FILE`';

/** Times are Unix milliseconds. */
interface FileFacts {
  now: number;
  /** When the file was written last. */
  modifiedMs: number;
  /** When its session began, if another file says so. */
  startedMs?: number | undefined;
  /** The folder of the project in which the tool keeps the file. */
  folder?: string | undefined;
}

export class Transcript {
  readonly #report: FileReport;
  readonly #file: FileFacts;
  readonly #conversations = new Map<string, Conversation>();
  #format: Format | undefined;
  #reader: Reader<string> | undefined;
  /** True if the tool writes the whole file again when the session grows: then its last message may be incomplete. */
  #isRewritten = false;
  /** Lines read before the format was recognised. */
  #earlyLines: Line[] = [];
  #earlyBytes = 0;

  /** `report` counts messages without events, and broken lines. */
  constructor(report: FileReport, file: FileFacts) {
    this.#report = report;
    this.#file = file;
  }

  /** True if no format was recognised in the beginning of the file. */
  get isUnknown(): boolean {
    if (this.#reader !== undefined) return false;
    if (this.#isExport) return true;
    if (this.#mayBeObject) return this.#earlyBytes >= LINE_BYTES_MAX;
    return this.#earlyLines.length >= SNIFF_LINES || this.#earlyBytes >= SNIFF_BYTES;
  }

  /** True if no format was recognised because the file is one JSON object, or has a line, of too many bytes. */
  get isTooLarge(): boolean {
    const isLong = this.#earlyLines.some(({ bytes }) => bytes > LINE_BYTES_MAX);
    return this.isUnknown && (isLong || this.#mayBeObject);
  }

  read(line: Line): ImportedEvent[] {
    if (this.#reader !== undefined) return this.#readLine(this.#reader, line);
    this.#earlyLines.push(line);
    this.#earlyBytes += line.bytes;
    const isEarly = this.#earlyLines.length <= SNIFF_LINES;
    if (!isEarly || line.text === undefined || !this.#recognise(line.text)) return [];
    return this.#earlyLines.splice(0).flatMap((early) => this.read(early));
  }

  /** Returns the events that only the end makes certain: of sessions that are over. */
  end(isOver = false): ImportedEvent[] {
    const events = this.#reader === undefined ? this.#readObject() : [];
    if (this.#isExport) this.#report.failed = OWN_EXPORT;
    const held = this.#reader?.end?.();
    if (held !== undefined) this.#conversationOf(held.session);
    const ends = [...this.#conversations].map(([id, conversation]) =>
      this.#endOf(conversation, held?.session.id === id ? held.entries : [], isOver),
    );
    return [...events, ...ends.flat()];
  }

  #endOf(conversation: Conversation, held: readonly Entry[], isOver: boolean): ImportedEvent[] {
    if (isOver || conversation.isIdle(held, this.#isRewritten ? this.#file.modifiedMs : 0)) {
      const events = held.flatMap((entry) => this.#eventsOf(conversation, entry, 0));
      return [...events, ...this.#counted(conversation.end())];
    }
    this.#report.noteFound(held.length + (conversation.isUndecided ? 1 : 0));
    return [];
  }

  #recognise(record: string): boolean {
    this.#format = formatOf(record);
    const { modifiedMs, startedMs = modifiedMs } = this.#file;
    this.#reader = this.#format && openReader(this.#format, timeOfMs(startedMs));
    this.#isRewritten = this.#format?.isRewritten ?? false;
    this.#report.format = this.#format?.name ?? null;
    return this.#reader !== undefined;
  }

  get #isExport(): boolean {
    return beginsExport(this.#earlyLines[0]?.text ?? '');
  }

  /** True if the lines so far may be the beginning of one JSON object that takes the whole file. */
  get #mayBeObject(): boolean {
    const first = this.#earlyLines.find(({ text }) => text?.trim() !== '')?.text;
    return first?.trimStart().startsWith('{') === true && tryParseObject(first) === undefined;
  }

  /** Reads the file as one JSON object, in whatever way it is indented. */
  #readObject(): ImportedEvent[] {
    if (!this.#mayBeObject || this.#earlyBytes > LINE_BYTES_MAX) return [];
    const text = this.#earlyLines.map((line) => line.text ?? '').join('\n');
    const last = this.#earlyLines.at(-1) ?? { number: 0, bytes: 0 };
    if (!this.#recognise(text)) return [];
    this.#isRewritten = true;
    return this.read({ ...last, text });
  }

  #readLine(reader: Reader<string>, line: Line): ImportedEvent[] {
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
    if (sessionEntries === undefined) return [];
    const conversation = this.#conversationOf(sessionEntries.session);
    return sessionEntries.entries.flatMap((entry) => this.#eventsOf(conversation, entry, line.number));
  }

  #eventsOf(conversation: Conversation, entry: Entry, line: number): ImportedEvent[] {
    if (entry.kind === 'skipped') this.#report.skipped += 1;
    if (entry.kind === 'unread') this.#report.noteUnread(line);
    return this.#counted(conversation.read(entry));
  }

  #counted(events: ImportedEvent[]): ImportedEvent[] {
    this.#report.noteFound(events.length);
    return events;
  }

  #conversationOf(session: Session): Conversation {
    const known = this.#conversations.get(session.id);
    if (known !== undefined) return known;
    const conversation = new Conversation(
      { ...session, repository: session.repository ?? this.#file.folder },
      this.#format?.name ?? '',
      this.#file.now,
    );
    this.#conversations.set(session.id, conversation);
    return conversation;
  }

  #noteBroken(line: number, fault: string): void {
    this.#report.broken += 1;
    this.#report.noteProblem(line, fault);
  }
}

/** Reports whether the first record of a file begins an export of an account: it is the account. */
export function beginsExport(record: string): boolean {
  const { type, data } = tryParseObject(record) ?? {};
  return type === 'account' && isObject(data) && 'email' in data;
}

function openReader(format: Format, at: string | undefined): Reader<string> {
  if (format.isText) return format.open(at);
  const reader = format.open(at);
  return { read: (record) => reader.read(parseObject(record)), end: () => reader.end?.() };
}
