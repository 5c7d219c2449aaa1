/** The callers of one request at this ingress. */
interface Callers {
  count: number;
  /** True if one of the callers stopped waiting for the work before it had ended. */
  hasLeftWork: boolean;
  /** Resolves when the detach of the earlier callers is done or given up; undefined while none is under way. */
  detachment: Promise<void> | undefined;
}

/**
 * Counts the callers of each request from before its admission until they no longer wait. The ingress may detach from
 * the work only when the last caller is gone: another caller may still be in its admission, about to wait. A caller
 * that comes back while a detach is under way waits for its end, because the detach would remove the new caller's
 * attachment.
 */
export class CallersByRequest {
  readonly #callers = new Map<string, Callers>();

  /** Counts a caller. Resolves when its request may be admitted. */
  async enter(request: string): Promise<void> {
    const callers = this.#callers.get(request) ?? { count: 0, hasLeftWork: false, detachment: undefined };
    callers.count += 1;
    this.#callers.set(request, callers);
    await callers.detachment;
  }

  /** Notes that a caller has stopped waiting for the work before it had ended. */
  stopWaiting(request: string): void {
    const callers = this.#callers.get(request);
    if (callers !== undefined) callers.hasLeftWork = true;
  }

  /** Removes a caller. If it was the last, and one of them had stopped waiting, calls `detach`. */
  leave(request: string, detach: () => Promise<void>): void {
    const callers = this.#callers.get(request);
    if (callers === undefined) return;
    callers.count -= 1;
    if (callers.count > 0) return;
    if (!callers.hasLeftWork) {
      if (callers.detachment === undefined) this.#callers.delete(request);
      return;
    }
    callers.hasLeftWork = false;
    const detachment = detach().finally(() => {
      if (callers.detachment !== detachment) return;
      callers.detachment = undefined;
      if (callers.count === 0) this.#callers.delete(request);
    });
    callers.detachment = detachment;
  }
}
