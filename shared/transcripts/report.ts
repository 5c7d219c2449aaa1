import { MIB } from '../schemas/limits.ts';
import { escapeInvisible } from '../text/visible.ts';

const PROBLEMS_MAX = 5;

/** The outcome of importing one file. */
export class FileReport {
  readonly file: string;
  /** Null if the format is unknown. */
  format: string | null = null;
  stored = 0;
  duplicates = 0;
  invalid = 0;
  /** Number of messages without words of the person or the agent. */
  skipped = 0;
  /** Number of messages of the person or the agent in a form that is not known. */
  unread = 0;
  /** Number of lines that cannot be read. */
  broken = 0;
  /** Descriptions of the first problems, with line numbers, but never with the text of a line. */
  readonly problems: string[] = [];
  /** Number of problems that are not in `problems`. */
  more = 0;
  /** Reason why the import ended early, or recorded nothing; null if neither. */
  failed: string | null = null;
  /** Number of events, also of those that are held back until their session goes on or is over. */
  #found = 0;

  constructor(file: string) {
    this.file = file;
  }

  noteUnread(line: number): void {
    this.unread += 1;
    this.noteProblem(line, 'is a message in a form that is not known');
  }

  noteFound(events: number): void {
    this.#found += events;
  }

  /**
   * At the end: nothing recorded is a failure, and says why. A file of a subagent or with commands only has nothing to
   * record; that is a failure only of a file that the person named.
   */
  conclude({ isNamed }: { isNamed: boolean }): void {
    const { stored, duplicates, invalid, format } = this;
    if (this.failed !== null || format === null || stored + duplicates > 0) return;
    if (invalid > 0) this.failed = `none of its ${invalid} events was accepted`;
    else if (this.#found === 0 && (isNamed || this.unread > 0 || this.skipped === 0))
      this.failed = this.#whyEmpty();
  }

  #whyEmpty(): string {
    if (this.unread > 0)
      return `nothing was read: none of its ${this.unread} messages has a known form; its tool may be newer than this importer`;
    if (this.skipped > 0) return `nothing was read: its ${this.skipped} messages are nobody's words`;
    return 'nothing was read: it has no messages';
  }

  /** `line` is 0 if the problem is of no single line. */
  noteProblem(line: number, problem: string): void {
    const place = line > 0 ? `line ${line}: ` : '';
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(`${place}${problem}`);
    else this.more += 1;
  }
}

export function faultsIn(reports: readonly FileReport[]): string[] {
  const faults = reports.flatMap(({ file, problems, more, failed }) => [
    ...problems.map((problem) => `${file}, ${problem}`),
    ...(more > 0 ? [`${file}: ${more} more problems`] : []),
    ...(failed === null ? [] : [`${file}: ${failed}`]),
  ]);
  return faults.map(escapeInvisible);
}

const PROGRESS_EVERY_MS = 2000;

export class Progress {
  readonly #files: number;
  readonly #write: (line: string) => void;
  #bytes = 0;
  #reportedAt = performance.now();

  constructor(files: number, write: (line: string) => void) {
    this.#files = files;
    this.#write = write;
  }

  /** `reports` has one report for each file that was opened so far. */
  add(bytes: number, reports: readonly FileReport[]): void {
    this.#bytes += bytes;
    const now = performance.now();
    if (now - this.#reportedAt < PROGRESS_EVERY_MS) return;
    this.#reportedAt = now;
    const stored = reports.reduce((sum, report) => sum + report.stored, 0);
    const read = `${(this.#bytes / MIB).toFixed(1)} MiB`;
    this.#write(`file ${reports.length} of ${this.#files}: ${read} read, ${stored} events stored\n`);
  }
}
