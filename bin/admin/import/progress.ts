import { MIB } from '../../../shared/schemas/limits.ts';
import type { FileReport } from './report.ts';

const EVERY_MS = 2000;

/** Says on standard error how far a long import is. A short one says nothing. */
export class Progress {
  readonly #files: number;
  readonly #write: (line: string) => void;
  #bytes = 0;
  #said = performance.now();

  constructor(files: number, write: (line: string) => void) {
    this.#files = files;
    this.#write = write;
  }

  /** Counts bytes that were read; `reports` are those of the files so far. */
  add(bytes: number, reports: readonly FileReport[]): void {
    this.#bytes += bytes;
    const now = performance.now();
    if (now - this.#said < EVERY_MS) return;
    this.#said = now;
    const stored = reports.reduce((sum, report) => sum + report.stored, 0);
    const read = `${(this.#bytes / MIB).toFixed(1)} MiB`;
    this.#write(`file ${reports.length} of ${this.#files}: ${read} read, ${stored} events stored\n`);
  }
}
