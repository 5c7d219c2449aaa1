/** The callers of one request at this ingress. */
interface Callers {
  count: number;
  /** The work that one of them stopped waiting for before it had ended. */
  left: string | undefined;
  /** Resolves when the database knows that the callers before these are gone. */
  detached: Promise<void> | undefined;
}

/**
 * Counts the callers of each request from before its admission until their answer. Only when the last of them is gone
 * may the ingress detach from the work: another one may still be in its admission, about to wait. And a caller who
 * re-attaches while the detach is under way waits for it, or the detach would take the new caller's attachment away.
 */
export class CallersByRequest {
  readonly #callers = new Map<string, Callers>();

  /** Resolves when the request may be admitted. */
  async enter(request: string): Promise<void> {
    const callers = this.#callers.get(request) ?? { count: 0, left: undefined, detached: undefined };
    callers.count += 1;
    this.#callers.set(request, callers);
    await callers.detached;
  }

  /** A caller stops waiting for the work before it has ended. */
  stopWaiting(request: string, id: string): void {
    const callers = this.#callers.get(request);
    if (callers !== undefined) callers.left = id;
  }

  /** A caller is gone. If it was the last and one of them gave up, calls `detach` with the work that it waited for. */
  leave(request: string, detach: (id: string) => Promise<void>): void {
    const callers = this.#callers.get(request);
    if (callers === undefined) return;
    callers.count -= 1;
    if (callers.count > 0) return;
    const { left } = callers;
    if (left === undefined) {
      if (callers.detached === undefined) this.#callers.delete(request);
      return;
    }
    callers.left = undefined;
    const detached = detach(left).finally(() => {
      if (callers.detached !== detached) return;
      callers.detached = undefined;
      if (callers.count === 0) this.#callers.delete(request);
    });
    callers.detached = detached;
  }
}
