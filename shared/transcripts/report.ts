import { MIB } from '../schemas/limits.ts';

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
  /** Number of lines that cannot be read. */
  broken = 0;
  /** Descriptions of the first problems, with line numbers, but never with the text of a line. */
  readonly problems: string[] = [];
  /** Number of problems that are not in `problems`. */
  more = 0;
  /** Reason why the import ended early; null if it did not. */
  failed: string | null = null;

  constructor(file: string) {
    this.file = file;
  }

  noteProblem(line: number, problem: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(`line ${line}: ${problem}`);
    else this.more += 1;
  }
}

export function faultsIn(reports: readonly FileReport[]): string[] {
  return reports.flatMap(({ file, problems, more, failed }) => [
    ...problems.map((problem) => `${file}, ${problem}`),
    ...(more > 0 ? [`${file}: ${more} more problems`] : []),
    ...(failed === null ? [] : [`${file}: ${failed}`]),
  ]);
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
