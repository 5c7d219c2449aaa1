import type { Health } from './operator-port.ts';

/** Longer than any part takes to notice a silent connection and replace it. */
const STUCK_MS = 10_000;

/** Time for which a probe's result is reused, so that frequent requests cost the stores nothing. */
const PROBE_MS = 1000;

/** The health of a process, by the parts that it is made of. Its composition root adds them as it opens them. */
export class ProcessHealth implements Health {
  /** Set while the process takes work. */
  serving = false;
  readonly #vital: { readonly silentMs: number }[] = [];
  readonly #checks: (() => Promise<unknown>)[] = [];
  #probe: Promise<boolean> | undefined;

  /** From now on the process is unhealthy while one of these has been silent for 10 s. */
  watch(...parts: readonly { readonly silentMs: number }[]): void {
    this.#vital.push(...parts);
  }

  /** The process is ready only if this resolves. */
  require(check: () => Promise<unknown>): void {
    this.#checks.push(check);
    this.#probe = undefined;
  }

  healthy(): boolean {
    return this.#vital.every(({ silentMs }) => silentMs < STUCK_MS);
  }

  async ready(): Promise<boolean> {
    this.#probe ??= this.#check();
    return (await this.#probe) && this.serving;
  }

  /** True if all parts answer. The result counts for a second. */
  async #check(): Promise<boolean> {
    try {
      await Promise.all(this.#checks.map((check) => check()));
      return true;
    } catch {
      return false;
    } finally {
      setTimeout(() => {
        this.#probe = undefined;
      }, PROBE_MS).unref();
    }
  }
}
