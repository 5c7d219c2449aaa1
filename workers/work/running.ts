import { setTimeout as sleep } from 'node:timers/promises';
import { QUERY_TIMEOUT_MS } from '../../shared/db/limits.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import type { Log } from '../../shared/log.ts';
import { Coalescer } from '../../shared/timing/coalesce.ts';
import { every, type Repetition } from '../../shared/timing/every.ts';

const POLL_EVERY_MS = 1000;
const DRAIN_POLL_MS = 50;
/** Time within which the answer to a claim usually arrives. */
const CLAIM_ANSWER_MS = 500;

class AttemptRelinquished extends Error {
  override readonly name = 'AttemptRelinquished';
}

interface Attempt {
  attempt: number;
  controller: AbortController;
}

export interface HeldRows {
  /** Returns the attempt numbers of the rows that this process holds, by row id; with `ids`, only of these rows. */
  readHeld(ids?: string[]): Promise<ReadonlyMap<string, number>>;
  release(ids: string[]): Promise<void>;
}

/**
 * Aborts attempts whose work was cancelled, taken over or ended by another process. Releases rows that this process
 * claimed without getting the answer.
 */
export class RunningAttempts {
  readonly #attempts = new Map<string, Attempt>();
  readonly #rows: HeldRows;
  readonly #log: Log;
  readonly #polls: Repetition;
  readonly #reconciliations = new Coalescer(() => this.#reconcile());
  /**
   * Time, by `performance.now()`, until which a claim whose answer was lost may still take effect. Undefined once a later
   * look has found all rows.
   */
  #claimsUntil: number | undefined;
  /**
   * Rows that this process held but did not run when last compared. Maps each id to the time when it was first seen.
   */
  #unknownRows: ReadonlyMap<string, number> = new Map();

  constructor(rows: HeldRows, log: Log) {
    this.#rows = rows;
    this.#log = log;
    this.#polls = every(POLL_EVERY_MS, () => this.look());
  }

  begin({ id, attempt }: Pick<Claim, 'id' | 'attempt'>): AbortController {
    const controller = new AbortController();
    // The work was claimed again, so the earlier attempt has lost its row.
    this.#attempts.get(id)?.controller.abort(new AttemptRelinquished('taken away'));
    this.#attempts.set(id, { attempt, controller });
    return controller;
  }

  /** Keeps the entry if the work was claimed again: `signal` identifies the attempt. */
  finish(id: string, signal: AbortSignal): void {
    if (this.#attempts.get(id)?.controller.signal === signal) this.#attempts.delete(id);
  }

  wake(ids: readonly string[]): void {
    if (ids.some((id) => this.#attempts.has(id))) this.look();
  }

  /** Notes that the answer to a claim was lost, and that the claim may still take effect. */
  claimLost(): void {
    this.#claimsUntil = performance.now() + QUERY_TIMEOUT_MS;
  }

  /** Waits for running attempts, and releases the work of those that still run after `withinMs`. */
  async drain(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    while (this.#attempts.size > 0 && performance.now() < until) await sleep(DRAIN_POLL_MS);
    await this.#relinquish();
  }

  close(): void {
    void this.#polls.stop();
  }

  /** Compares the attempts with their rows, and repairs differences. */
  look(): void {
    void this.#reconciliations.run();
  }

  async #reconcile(): Promise<void> {
    try {
      const before = new Map(this.#attempts);
      const began = performance.now();
      const mayHaveUnknownRows = this.#unknownRows.size > 0 || this.#claimsUntil !== undefined;
      if (before.size === 0 && !mayHaveUnknownRows) return;
      const held = await this.#rows.readHeld(mayHaveUnknownRows ? undefined : [...before.keys()]);
      for (const [id, { attempt, controller }] of before)
        if (held.get(id) !== attempt) controller.abort(new AttemptRelinquished('taken away'));
      if (!mayHaveUnknownRows) return;
      await this.#releaseUnknownRows(held);
      if (began > (this.#claimsUntil ?? 0)) this.#claimsUntil = undefined;
    } catch (error) {
      this.#log.warn({ err: error }, 'could not compare running attempts with their rows');
    }
  }

  async #relinquish(): Promise<void> {
    for (const { controller } of this.#attempts.values())
      controller.abort(new AttemptRelinquished('released'));
    if (this.#attempts.size === 0) return;
    const logFailure = (error: unknown) =>
      this.#log.warn(
        { err: error },
        'could not release unfinished work: it is taken over when this lease ends',
      );
    await this.#rows.release([...this.#attempts.keys()]).catch(logFailure);
  }

  /**
   * Releases rows that this process holds but does not run. Waits `CLAIM_ANSWER_MS` first, because the answer to their
   * claim may still arrive.
   */
  async #releaseUnknownRows(held: ReadonlyMap<string, number>): Promise<void> {
    const now = performance.now();
    const unknownIds = [...held.keys()].filter((id) => !this.#attempts.has(id));
    this.#unknownRows = new Map(unknownIds.map((id) => [id, this.#unknownRows.get(id) ?? now]));
    const overdueIds = unknownIds.filter((id) => now - (this.#unknownRows.get(id) ?? now) > CLAIM_ANSWER_MS);
    if (overdueIds.length > 0) await this.#rows.release(overdueIds);
  }
}
