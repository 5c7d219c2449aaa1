import { every } from '../timing/every.ts';
import { isAnswerLost } from './faults.ts';

const WRITE_EVERY_MS = 5000;
/** Maximum counts that wait to be written. What further ones would count is not counted. */
const COUNTS_MAX = 10_000;

/**
 * Adds up counts in memory and writes them every few seconds, so that many calls cause few writes. A process that is
 * killed loses the counts of its last seconds.
 */
export class PendingCounts<Count> {
  readonly #counts = new Map<string, Count>();
  readonly #options: PendingCountsOptions<Count>;
  readonly #writing;

  constructor(options: PendingCountsOptions<Count>, onError: (error: unknown) => void) {
    this.#options = options;
    this.#writing = every(WRITE_EVERY_MS, () => this.flush(), { onError });
  }

  add(count: Count): void {
    const key = this.#options.keyOf(count);
    const known = this.#counts.get(key);
    if (known !== undefined) this.#options.merge(known, count);
    else if (this.#counts.size < COUNTS_MAX) this.#counts.set(key, count);
  }

  /** Writes the counts. After a failure, keeps them for the next write, unless they may have been written. */
  async flush(): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#counts.clear();
    try {
      await this.#options.write(counts);
    } catch (error) {
      if (!isAnswerLost(error)) for (const count of counts) this.add(count);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#writing.stop();
    await this.flush();
  }
}

interface PendingCountsOptions<Count> {
  write(counts: readonly Count[]): Promise<void>;
  /** Adds the numbers of `more` to those of `into`. */
  merge(into: Count, more: Count): void;
  keyOf(count: Count): string;
}
