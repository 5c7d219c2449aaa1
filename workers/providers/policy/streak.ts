/** Failures in a row. */
export interface Streak {
  readonly failures: number;
  /** Whose calls failed; more than `PARTIES_MAX`: anybody's. */
  readonly parties: readonly string[];
}

/** When the calls of more parties than that fail in a row, it is nobody's own doing. */
const PARTIES_MAX = 100;

export const NO_FAILURE: Streak = { failures: 0, parties: [] };

/** Both, as one. */
export function joined(a: Streak, b: Streak): Streak {
  const parties = new Set([...a.parties, ...b.parties]);
  return { failures: a.failures + b.failures, parties: [...parties].slice(0, PARTIES_MAX + 1) };
}

/** Whether a call of the party is among the failures. */
export function concerns({ parties }: Streak, party: string): boolean {
  return parties.length > PARTIES_MAX || parties.includes(party);
}
