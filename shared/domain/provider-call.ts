/** The model name of the built-in predictor. */
export const LOCAL_MODEL = 'local';

/** Outcomes of a request to a provider. In the first four, the provider answered. `aborted`: the caller gave up. */
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

/** Number of days for which rows of `provider_calls` are kept. */
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
  // Prices have at most four decimals. The inner `round` removes floating-point noise, which `ceil` would round up.
  return Math.ceil(Math.round(cost * 10_000) / 10_000);
}

/** Estimates the tokens of a text, for a call whose provider reported no count: one token for four bytes of UTF-8. */
export function estimateUnreportedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

export const NOTHING_SPENT = {
  calls: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  costMicrocents: 0,
  /** Number of calls to models without a price. */
  unpriced: 0,
};
export type Spending = typeof NOTHING_SPENT;
