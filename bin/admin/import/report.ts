const PROBLEMS_MAX = 5;

/** What became of one file. */
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
  /** How many more there are. */
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
