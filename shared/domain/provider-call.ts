/** The model name of the built-in predictor. */
export const LOCAL_MODEL = 'local';

/** Outcomes of a request to a provider. The first four had an answer; `aborted` means that the caller gave up. */
export const CALL_OUTCOMES = [
  'answered',
  'refused',
  'cut_off',
  'unusable',
  'timeout',
  'not_configured',
  'rate_limited',
  'failed',
  'aborted',
] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** Number of days for which the ledger keeps a call. */
export const LEDGER_DAYS = 400;

/** Millionths of a cent per token. */
interface ModelPrice {
  input: number;
  output: number;
}

/** Returns the cost of tokens in millionths of a cent, rounded up; null for a model without a price. */
export function costOf(
  price: ModelPrice | undefined,
  { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
): number | null {
  if (price === undefined) return null;
  const cost = price.input * inputTokens + price.output * outputTokens;
  // A price has at most four decimals. Anything beyond them is arithmetic noise, and must not be rounded up.
  return Math.ceil(Math.round(cost * 10_000) / 10_000);
}

/** Estimates the tokens of a text, for a call whose provider reported no count: one token for four bytes of UTF-8. */
export function estimateUnreportedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

export interface Spending {
  calls: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  costMicrocents: number;
  /** Number of calls to models without a price. */
  unpriced: number;
}

export const NOTHING_SPENT: Spending = {
  calls: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  costMicrocents: 0,
  unpriced: 0,
};
