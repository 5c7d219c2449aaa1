/** The callers of one request at this ingress. */
interface Callers {
  count: number;
  /** Reason of the latest caller that stopped waiting before the work had ended; undefined if no caller did. */
  latestLeave: 'answered' | 'disconnected' | undefined;
  /** Resolves when the detach of the earlier callers is done or given up; undefined while none is under way. */
  detachment: Promise<void> | undefined;
}

/**
 * Counts the callers of each request from before its admission until they no longer wait. The ingress may detach from
 * the work only when the last caller is gone: another caller may still be in its admission, about to wait. A caller
 * that arrives while a detach is under way waits until the detach has ended, because the detach would remove the
 * caller's attachment.
 */
export class CallersByRequest {
  readonly #callers = new Map<string, Callers>();

  /** Counts a caller. Resolves when its request may be admitted. */
  async enter(request: string): Promise<void> {
    const callers = this.#callers.get(request) ?? { count: 0, latestLeave: undefined, detachment: undefined };
    callers.count += 1;
    this.#callers.set(request, callers);
    await callers.detachment;
  }

  /** Notes that a caller has stopped waiting for the work before it had ended: it was answered, or it disconnected. */
  stopWaiting(request: string, reason: 'answered' | 'disconnected'): void {
    const callers = this.#callers.get(request);
    if (callers !== undefined) callers.latestLeave = reason;
  }

  /**
   * Removes a caller. If none is left, and any had stopped waiting before the work had ended, calls `detach`, with true
   * if the latest of those had disconnected.
   */
  leave(request: string, detach: (disconnected: boolean) => Promise<void>): void {
    const callers = this.#callers.get(request);
    if (callers === undefined) return;
    callers.count -= 1;
    if (callers.count > 0) return;
    const { latestLeave } = callers;
    if (latestLeave === undefined) {
      if (callers.detachment === undefined) this.#callers.delete(request);
      return;
    }
    callers.latestLeave = undefined;
    const detachment = detach(latestLeave === 'disconnected').finally(() => {
      if (callers.detachment !== detachment) return;
      callers.detachment = undefined;
      if (callers.count === 0) this.#callers.delete(request);
    });
    callers.detachment = detachment;
  }
}
