import { MIB } from '../schemas/limits.ts';

const PROBLEMS_MAX = 5;

/** The outcome of importing one file. */
export class FileReport {
  readonly file: string;
  /** Null: the file is of no known format. */
  format: string | null = null;
  stored = 0;
  duplicates = 0;
  /** Events that the rules of recording refuse. */
  invalid = 0;
  /** Records that hold nobody's words. */
  skipped = 0;
  /** Lines that cannot be read. */
  broken = 0;
  /** The first of what is wrong, by line, never with the text of one. */
  readonly problems: string[] = [];
  /** Number of further problems. */
  more = 0;
  /** Why the file was not imported to its end; null: it was. */
  failed: string | null = null;

  constructor(file: string) {
    this.file = file;
  }

  note(line: number, problem: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(`line ${line}: ${problem}`);
    else this.more += 1;
  }
}

/** Faults of the files, one a line. */
export function faultsIn(reports: readonly FileReport[]): string[] {
  return reports.flatMap(({ file, problems, more, failed }) => [
    ...problems.map((problem) => `${file}, ${problem}`),
    ...(more > 0 ? [`${file}: ${more} more problems`] : []),
    ...(failed === null ? [] : [`${file}: ${failed}`]),
  ]);
}

const EVERY_MS = 2000;

/** Reports the progress of a long import on standard error, and nothing of a short one. */
export class Progress {
  readonly #files: number;
  readonly #write: (line: string) => void;
  #bytes = 0;
  #reported = performance.now();

  constructor(files: number, write: (line: string) => void) {
    this.#files = files;
    this.#write = write;
  }

  /** Counts bytes that were read; `reports` has one of each file so far. */
  add(bytes: number, reports: readonly FileReport[]): void {
    this.#bytes += bytes;
    const now = performance.now();
    if (now - this.#reported < EVERY_MS) return;
    this.#reported = now;
    const stored = reports.reduce((sum, report) => sum + report.stored, 0);
    const read = `${(this.#bytes / MIB).toFixed(1)} MiB`;
    this.#write(`file ${reports.length} of ${this.#files}: ${read} read, ${stored} events stored\n`);
  }
}
