import { setTimeout as sleep } from 'node:timers/promises';
import type { BookedCall } from '../../shared/db/stores/provider-calls.ts';
import { every, type Repeated } from '../../shared/every.ts';
import type { Log } from '../../shared/log.ts';

const FLUSH_EVERY_MS = 200;
/** Rows in one statement. */
const MOST = 500;
/** Rows in memory; a few megabytes. */
const BUFFER_MAX = 20_000;
/** How long a process that stops goes on trying. */
const CLOSE_WITHIN_MS = 2000;
const RETRY_MS = 100;

/** Stores calls; `age_ms` is how long ago each was sent. Safe to repeat. */
export type BookCalls = (calls: (BookedCall & { age_ms: number })[]) => Promise<void>;

/**
 * The ledger of calls to providers. No call waits for the database: rows are buffered and stored together, five times a
 * second and when the process stops. A process that is killed loses its last moments, and during an outage of the
 * database rows over `BUFFER_MAX` are lost: the ledger is an estimate, not a bill.
 */
export class CallLedger {
  readonly #book: BookCalls;
  readonly #log: Log;
  readonly #flushes: Repeated;
  #buffer: { call: BookedCall; sentAt: number }[] = [];
  #lost = 0;

  constructor(book: BookCalls, log: Log) {
    this.#book = book;
    this.#log = log;
    const onError = (error: unknown) =>
      log.warn({ err: error, calls: this.#buffer.length }, 'could not book calls to the provider yet');
    this.#flushes = every(FLUSH_EVERY_MS, () => this.#flush(), { onError, ref: false });
  }

  /** `sentAt` is a moment of `performance.now()`. */
  add(call: BookedCall, sentAt: number): void {
    if (this.#buffer.length < BUFFER_MAX) this.#buffer.push({ call, sentAt });
    else this.#lost += 1;
  }

  /** Stores what is left. */
  async close(): Promise<void> {
    await this.#flushes.stop();
    const until = performance.now() + CLOSE_WITHIN_MS;
    for (;;) {
      try {
        return await this.#flush();
      } catch (error) {
        if (performance.now() > until) {
          this.#log.warn(
            { err: error, calls: this.#buffer.length },
            'calls to the provider are lost to the ledger',
          );
          return;
        }
        await sleep(RETRY_MS);
      }
    }
  }

  async #flush(): Promise<void> {
    while (this.#buffer.length > 0) {
      const batch = this.#buffer.slice(0, MOST);
      const now = performance.now();
      await this.#book(batch.map(({ call, sentAt }) => ({ ...call, age_ms: now - sentAt })));
      this.#buffer.splice(0, batch.length);
    }
    if (this.#lost > 0) this.#log.warn({ calls: this.#lost }, 'calls to the provider are lost to the ledger');
    this.#lost = 0;
  }
}
