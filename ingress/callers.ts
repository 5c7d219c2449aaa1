/** The callers of one request at this ingress. */
interface Callers {
  count: number;
  /** The prediction that one of them stopped waiting for before it had ended. */
  left: string | undefined;
}

/**
 * Counts the callers of each request from before its admission until their answer. Only when the last of them is gone
 * may the ingress say that nobody waits here: one whose admission is still on its way may be about to.
 */
export class CallersByRequest {
  readonly #callers = new Map<string, Callers>();

  enter(request: string): void {
    const callers = this.#callers.get(request) ?? { count: 0, left: undefined };
    callers.count += 1;
    this.#callers.set(request, callers);
  }

  /** One of them gives up waiting for the prediction, which has not ended. */
  giveUp(request: string, predictionId: string): void {
    const callers = this.#callers.get(request);
    if (callers !== undefined) callers.left = predictionId;
  }

  /** Returns the prediction that nobody here waits for any more, if this was the last and one was given up. */
  leave(request: string): string | undefined {
    const callers = this.#callers.get(request);
    if (callers === undefined) return undefined;
    callers.count -= 1;
    if (callers.count > 0) return undefined;
    this.#callers.delete(request);
    return callers.left;
  }
}
