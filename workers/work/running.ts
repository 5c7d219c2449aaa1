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
  /** True once the attempt has given its slot back and waits for its parts. */
  isParked: boolean;
}

export interface HeldRows {
  /** Returns the attempt numbers of the rows that this process holds, by row id; with `ids`, only of these rows. */
  readHeld(ids?: string[]): Promise<ReadonlyMap<string, number>>;
  /** Takes back rows that a crash of the database put back in the queue. Resolves with their ids. */
  reclaim(attempts: ReadonlyMap<string, number>): Promise<string[]>;
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
  /** Time, by `performance.now()`, until which a claim whose answer was lost may still take effect. */
  #claimsUntil = 0;
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
    this.#attempts.set(id, { attempt, controller, isParked: false });
    return controller;
  }

  /** `signal` identifies the attempt, because released work is claimed again under the same attempt number. */
  park(id: string, signal: AbortSignal): void {
    const latest = this.#attempts.get(id);
    if (latest?.controller.signal === signal) latest.isParked = true;
  }

  /** Keeps the entry if the work was claimed again. */
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

  /**
   * Waits for running attempts, and releases the work of those that still run after `withinMs`. Releases parked work at
   * once, because this process claims no parts any more.
   */
  async drain(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    while (this.#attempts.size > 0 && performance.now() < until) {
      await this.relinquishParked();
      await sleep(DRAIN_POLL_MS);
    }
    await this.#relinquish(() => true);
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
      const mayHaveUnknownRows = this.#unknownRows.size > 0 || performance.now() < this.#claimsUntil;
      if (before.size === 0 && !mayHaveUnknownRows) return;
      const held = await this.#rows.readHeld(mayHaveUnknownRows ? undefined : [...before.keys()]);
      await this.#giveUp(new Map([...before].filter(([id, { attempt }]) => held.get(id) !== attempt)));
      if (mayHaveUnknownRows) await this.#releaseUnknownRows(held);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not compare running attempts with their rows');
    }
  }

  /** Releases parked attempts, because another process can wait for the parts as well. */
  relinquishParked(): Promise<void> {
    return this.#relinquish(({ isParked }) => isParked);
  }

  async #relinquish(which: (attempt: Attempt) => boolean): Promise<void> {
    const attempts = [...this.#attempts].filter(([, attempt]) => which(attempt));
    for (const [, { controller }] of attempts) controller.abort(new AttemptRelinquished('released'));
    if (attempts.length === 0) return;
    const logFailure = (error: unknown) =>
      this.#log.warn(
        { err: error },
        'could not release unfinished work: it is taken over when this lease ends',
      );
    await this.#rows.release(attempts.map(([id]) => id)).catch(logFailure);
  }

  async #giveUp(lostAttempts: ReadonlyMap<string, Attempt>): Promise<void> {
    // Does not reclaim the rows of aborted attempts: such a row may be queued because it was released.
    const runningAttempts = [...lostAttempts].filter(([, { controller }]) => !controller.signal.aborted);
    const attemptNumbers = new Map(runningAttempts.map(([id, { attempt }]) => [id, attempt] as const));
    const reclaimedIds = new Set(attemptNumbers.size === 0 ? [] : await this.#rows.reclaim(attemptNumbers));
    for (const [id, { controller }] of lostAttempts)
      if (!reclaimedIds.has(id)) controller.abort(new AttemptRelinquished('taken away'));
    // Releases rows whose attempt ended in this process during the reclaim. Otherwise this process would hold the work
    // until its deadline without running it.
    const idleIds = [...reclaimedIds].filter(
      (id) => this.#attempts.get(id)?.attempt !== attemptNumbers.get(id),
    );
    if (idleIds.length > 0) await this.#rows.release(idleIds);
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
