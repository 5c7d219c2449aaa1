interface Callers {
  count: number;
  /** Reason of the latest caller that stopped waiting before the work had ended. */
  latestLeave: 'answered' | 'disconnected' | undefined;
  /** Resolves when the running detach is over; undefined while none runs. */
  detachment: Promise<void> | undefined;
}

/**
 * Counts the callers of each request, from before its admission until they no longer wait. The ingress may detach from
 * the work only when the last caller is gone. A new caller waits until a running detach is over, because the detach
 * would also remove the new caller's attachment.
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

  /** Notes that a caller has stopped waiting before the work had ended. */
  stopWaiting(request: string, reason: 'answered' | 'disconnected'): void {
    const callers = this.#callers.get(request);
    if (callers !== undefined) callers.latestLeave = reason;
  }

  /**
   * When the last caller leaves, calls `detach` if a caller had stopped waiting before the work had ended.
   * `disconnected` is true if the latest such caller had disconnected.
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
