import type { Claim } from '../shared/db/stores/work/claim.ts';
import type { Log } from '../shared/log.ts';

const POLL_EVERY_MS = 1000;

/** Why a run was given up: the row is no longer this attempt's, or this process hands its work back. */
export class Relinquished extends Error {
  override readonly name = 'Relinquished';
}

interface Attempt {
  attempt: number;
  controller: AbortController;
}

/** The truth about what this process runs. */
export interface HeldRows {
  /** Those of the ids that are still ours: id → attempt. */
  among(ids: string[]): Promise<Map<string, number>>;
  /** Takes back those of the attempts that a crash of the database made queued again. */
  reclaim(attempts: ReadonlyMap<string, number>): Promise<string[]>;
  /** What is ours besides: a claim whose answer was lost. */
  strays(known: string[]): Promise<string[]>;
  release(ids: string[]): Promise<void>;
}

/**
 * What this process runs now. A wake-up, and a poll once a second, abort what was cancelled, taken over or ended by
 * somebody else. After a claim whose answer was lost, what the truth says is ours although nobody here runs it is
 * released.
 */
export class RunningAttempts {
  readonly #attempts = new Map<string, Attempt>();
  readonly #rows: HeldRows;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #poll: Promise<void> | undefined;
  #pollAgain = false;
  #mayHaveStrays = false;
  #relinquished = false;
  #strays: string[] = [];

  constructor(rows: HeldRows, log: Log) {
    this.#rows = rows;
    this.#log = log;
    this.#timer = setInterval(() => this.look(), POLL_EVERY_MS);
  }

  get ids(): string[] {
    return [...this.#attempts.keys()];
  }

  begin({ id, attempt }: Pick<Claim, 'id' | 'attempt'>): AbortController {
    const controller = new AbortController();
    this.#attempts.set(id, { attempt, controller });
    return controller;
  }

  finish({ id, attempt }: Pick<Claim, 'id' | 'attempt'>): void {
    if (this.#attempts.get(id)?.attempt === attempt) this.#attempts.delete(id);
  }

  /** Looks at the truth if any of these is run here. */
  wake(ids: readonly string[]): void {
    if (ids.some((id) => this.#attempts.has(id))) this.look();
  }

  claimLost(): void {
    this.#mayHaveStrays = true;
  }

  /** Gives up everything that still runs. */
  relinquish(): void {
    this.#relinquished = true;
    for (const { controller } of this.#attempts.values()) controller.abort(new Relinquished('handed back'));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** One look at a time; what is asked for meanwhile is answered by one more. */
  look(): void {
    if (this.#poll !== undefined) {
      this.#pollAgain = true;
      return;
    }
    this.#poll = this.#compare()
      .catch((error: unknown) => this.#log.warn({ err: error }, 'could not look at what runs here'))
      .finally(() => {
        this.#poll = undefined;
        if (this.#pollAgain) {
          this.#pollAgain = false;
          this.look();
        }
      });
  }

  async #compare(): Promise<void> {
    const before = new Map(this.#attempts);
    if (before.size > 0) {
      const held = await this.#rows.among([...before.keys()]);
      const lost = new Map([...before].filter(([id, { attempt }]) => held.get(id) !== attempt));
      if (lost.size > 0) await this.#giveUp(lost);
    }
    if (this.#mayHaveStrays) await this.#releaseStrays();
  }

  async #giveUp(lost: ReadonlyMap<string, Attempt>): Promise<void> {
    const numbers = new Map([...lost].map(([id, { attempt }]) => [id, attempt] as const));
    // What this process hands back at its end is queued as well.
    const ours = new Set(this.#relinquished ? [] : await this.#rows.reclaim(numbers));
    for (const [id, { controller }] of lost)
      if (!ours.has(id)) controller.abort(new Relinquished('no longer ours'));
  }

  /** Only the second look is sure that a claim's answer is not just on its way. */
  async #releaseStrays(): Promise<void> {
    const unknown = (await this.#rows.strays(this.ids)).filter((id) => !this.#attempts.has(id));
    const strays = unknown.filter((id) => this.#strays.includes(id));
    this.#strays = unknown;
    if (strays.length > 0) await this.#rows.release(strays);
    this.#mayHaveStrays = unknown.length > 0;
  }
}
