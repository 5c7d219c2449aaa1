/** So many points in a window of so many seconds, for each key. `name` stands in headers and keys. */
export interface Limit {
  name: string;
  points: number;
  windowS: number;
  /** Nothing is ever given back: a refusal holds until its window is over, and needs no store. */
  final?: boolean;
}

/** What a limiter says to one request, and what its headers tell. */
export interface Verdict {
  allowed: boolean;
  remaining: number;
  /** Whole seconds until the window is over; at least 1 where it refuses. */
  resetS: number;
}

/** Counts one limit for all ingresses together. It never throws: without its store it counts for this ingress alone. */
export interface Limiter {
  readonly limit: Limit;
  take(key: string): Promise<Verdict>;
  /** Takes one point back: what was counted turned out not to count. */
  giveBack(key: string): Promise<void>;
}

/** Opens limiters on the shared store. */
export interface Limits {
  open(limit: Limit): Limiter;
  close(): Promise<void>;
}
