import type { Claim } from '../shared/db/stores/predictions/claim.ts';
import type { Log } from '../shared/log.ts';

const SWEEP_EVERY_MS = 1000;

/** Why a run was given up: the row is no longer this attempt's, or this process hands its work back. */
export class Relinquished extends Error {
  override readonly name = 'Relinquished';
}

/** The truth about what this process runs: prediction → attempt. */
export type ReadHeld = () => Promise<Map<string, number>>;

/**
 * What this process runs now. A wake-up, and a look at the truth once a second, abort what was cancelled, taken over
 * or ended by somebody else; what the truth says is ours although nobody here runs it is given back.
 */
export class RunningAttempts {
  readonly #attempts = new Map<string, { attempt: number; controller: AbortController }>();
  readonly #read: ReadHeld;
  readonly #giveBack: (ids: string[]) => Promise<void>;
  readonly #log: Log;
  readonly #sweeper: NodeJS.Timeout;
  #strays: string[] = [];
  #look: Promise<void> | undefined;
  #lookAgain = false;
  #sweptAt = performance.now();

  constructor(read: ReadHeld, giveBack: (ids: string[]) => Promise<void>, log: Log) {
    this.#read = read;
    this.#giveBack = giveBack;
    this.#log = log;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MS);
  }

  get ids(): string[] {
    return [...this.#attempts.keys()];
  }

  /** Milliseconds since the truth was last read. */
  get staleMs(): number {
    return performance.now() - this.#sweptAt;
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
    if (ids.some((id) => this.#attempts.has(id))) this.#sweep();
  }

  /** Gives up everything that still runs. */
  relinquish(): void {
    for (const { controller } of this.#attempts.values()) controller.abort(new Relinquished('handed back'));
  }

  close(): void {
    clearInterval(this.#sweeper);
  }

  /** One look at a time; what is asked for meanwhile is answered by one more. */
  #sweep(): void {
    if (this.#look !== undefined) {
      this.#lookAgain = true;
      return;
    }
    this.#look = this.#compare()
      .catch((error: unknown) => this.#log.warn({ err: error }, 'could not look at what runs here'))
      .finally(() => {
        this.#look = undefined;
        if (this.#lookAgain) {
          this.#lookAgain = false;
          this.#sweep();
        }
      });
  }

  async #compare(): Promise<void> {
    const before = new Map(this.#attempts);
    const held = await this.#read();
    this.#sweptAt = performance.now();
    for (const [id, { attempt, controller }] of before) {
      if (held.get(id) !== attempt) controller.abort(new Relinquished('no longer ours'));
    }
    await this.#returnStrays([...held.keys()].filter((id) => !this.#attempts.has(id)));
  }

  /** A claim whose answer was lost. Only the second look is sure that the claim is not just on its way. */
  async #returnStrays(unknown: string[]): Promise<void> {
    const strays = unknown.filter((id) => this.#strays.includes(id));
    this.#strays = unknown;
    if (strays.length > 0) await this.#giveBack(strays);
  }
}
