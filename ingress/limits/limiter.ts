import { LRUCache } from 'lru-cache';
import { type KeyWindow, limitKey, type Points } from '../../shared/db/stores/rate-limits.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { sharedPause } from '../../shared/timing/coalesce.ts';

/** `points` per `windowS` seconds for each key. `name` appears in headers and in the store's keys. */
export interface Limit {
  name: string;
  points: number;
  windowS: number;
}

export interface Verdict {
  allowed: boolean;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetS: number;
}

export async function takeOrRefuse(limiter: Pick<Limiter, 'take'>, key: string): Promise<void> {
  const { allowed, resetS } = await limiter.take(key);
  if (!allowed) throw new AppError('rate_limited', { retryAfterS: resetS });
}

export interface LimiterFactory {
  open(limit: Limit): Limiter;
  openBuffered(limit: Limit): BufferedLimiter;
}

export type CountPoints = (points: Points) => Promise<KeyWindow>;

function createVerdict(allowed: boolean, remaining: number, leftMs: number): Verdict {
  return { allowed, remaining: Math.max(0, remaining), resetS: Math.max(1, Math.ceil(leftMs / 1000)) };
}

const WINDOWS_MAX = 10_000;

/**
 * Counts one limit exactly, across all ingresses: asks the store at every call. Meant for small limits, and for limits
 * that protect a secret. Throws while the store does not answer.
 */
export class Limiter {
  readonly limit: Limit;
  readonly #count: CountPoints;
  /** Id of the window in which points of each key were last taken. A refund applies only to that window. */
  readonly #windows = new LRUCache<string, number>({ max: WINDOWS_MAX });

  constructor(limit: Limit, count: CountPoints) {
    this.limit = limit;
    this.#count = count;
  }

  /** Takes points (1 by default), even when it refuses the call. */
  async take(name: string, points = 1): Promise<Verdict> {
    const key = limitKey(this.limit.name, name);
    const counted = await this.#count({ key, points, windowMs: this.limit.windowS * 1000 });
    this.#windows.set(key, counted.window);
    return createVerdict(
      counted.points <= this.limit.points,
      this.limit.points - counted.points,
      counted.leftMs,
    );
  }

  /** Gives points back in their own window only. In the next window, they would make the count negative. */
  async refund(name: string, points = 1): Promise<void> {
    const key = limitKey(this.limit.name, name);
    const window = this.#windows.get(key);
    if (window === undefined) return;
    await this.#count({ key, points: -points, windowMs: this.limit.windowS * 1000, window });
  }
}

/** Fraction of a limit that one ingress may grant before the store counts it. Rounds down to 0 below 25 points. */
const AHEAD_SHARE = 0.04;
const REPORT_EVERY_MS = 50;

/** The current window of a key, as far as this ingress knows. */
interface Window {
  id: number;
  /** Points that the store had counted at its latest answer. */
  counted: number;
  /** Earliest possible end. */
  endsAt: number;
  /** Points that this ingress has granted and `counted` does not include. */
  ahead: number;
  /** Points among these that are not on their way to the store. */
  unreported: number;
}

/**
 * Counts one limit across all ingresses. While a window is known, grants a few points before the store has counted
 * them, refuses at once a call for which too few are left, and asks the store about any other call. In one window, a
 * single ingress grants at most `limit` points; several together grant at most `AHEAD_SHARE` more for each. Grants
 * every call while the store, the database, does not answer: little that the calls want works without it.
 */
export class BufferedLimiter {
  readonly limit: Limit;
  readonly #count: CountPoints;
  readonly #windows = new LRUCache<string, Window>({ max: WINDOWS_MAX });
  readonly #nextReport = sharedPause(REPORT_EVERY_MS);

  constructor(limit: Limit, count: CountPoints) {
    this.limit = limit;
    this.#count = count;
  }

  /** Takes points (1 by default). If too few are left, refuses the call, and takes the rest of the points. */
  async take(key: string, points = 1): Promise<Verdict> {
    const window = this.#currentWindow(key);
    if (window === undefined) return this.#send(key, points);
    const left = this.#pointsLeft(window);
    const mayGrant = window.ahead + points <= Math.floor(this.limit.points * AHEAD_SHARE);
    if (points <= left && !mayGrant) return this.#send(key, points);
    this.#takeAhead(key, window, Math.min(points, Math.max(0, left)));
    return this.#verdict(window, points <= left);
  }

  #takeAhead(key: string, window: Window, points: number): void {
    if (window.unreported === 0 && points > 0) void this.#nextReport().then(() => this.#report(key, window));
    window.ahead += points;
    window.unreported += points;
  }

  async #report(key: string, window: Window): Promise<void> {
    const points = window.unreported;
    window.unreported = 0;
    await this.#send(key, points, window);
  }

  /** Counts points in the store: in the given window, from which they are `ahead`, or in the current one. */
  async #send(name: string, points: number, reported?: Window): Promise<Verdict> {
    const key = limitKey(this.limit.name, name);
    const sentAt = performance.now();
    const windowMs = this.limit.windowS * 1000;
    const answer = await this.#count({ key, points, windowMs, window: reported?.id }).catch(() => undefined);
    if (answer === undefined) return createVerdict(true, this.limit.points - points, windowMs);
    if (reported !== undefined) reported.ahead -= points;
    const known = this.#windows.get(name);
    const ownPoints = known?.id === answer.window ? known : { ahead: 0, unreported: 0 };
    const window = Object.assign(ownPoints, {
      id: answer.window,
      counted: answer.points,
      endsAt: sentAt + answer.leftMs,
    });
    this.#windows.set(name, window);
    return this.#verdict(window, this.#pointsLeft(window) >= 0);
  }

  #currentWindow(key: string): Window | undefined {
    const window = this.#windows.get(key);
    return window && window.endsAt > performance.now() ? window : undefined;
  }

  #pointsLeft({ counted, ahead }: Window): number {
    return this.limit.points - counted - ahead;
  }

  #verdict(window: Window, allowed: boolean): Verdict {
    return createVerdict(allowed, this.#pointsLeft(window), window.endsAt - performance.now());
  }
}
