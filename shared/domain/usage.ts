import type { UsageResponse } from '../schemas/usage.ts';
import { NOTHING_SPENT, type Spending } from './provider-call.ts';

export const MICROCENTS_PER_CENT = 1_000_000;
const NOTHING_USED = {
  reserved: 0,
  settled: 0,
  paidReserved: 0,
  paidSettled: 0,
  /** Adds up the price of each unit at its admission. */
  paidSettledMicrocents: 0,
};
/** An app's units in a month. */
export type UsageCounts = typeof NOTHING_USED;

/** Reports the app's current plan and cap, even for a past month. */
export function usageReport(
  app: { id: string; plan: UsageResponse['plan']; capCents?: number | null },
  month: string,
  counts: UsageCounts | undefined,
  sandboxUnits: number,
): UsageResponse {
  const { settled, reserved, paidSettled, paidReserved, paidSettledMicrocents } = counts ?? NOTHING_USED;
  const sandboxUsed = settled - paidSettled + reserved - paidReserved;
  return {
    app_id: app.id,
    month,
    plan: app.plan,
    prediction_units: settled,
    reserved_units: reserved,
    paid_prediction_units: paidSettled,
    invoice_cents: Math.floor(paidSettledMicrocents / MICROCENTS_PER_CENT),
    monthly_cap_cents: app.capCents ?? null,
    sandbox_remaining: Math.max(0, sandboxUnits - sandboxUsed),
    currency: 'USD',
    billing_model: 'manual',
    cap_scope: 'app',
  };
}

/** The cost is in cents, with four decimals. */
export function spendingReport(spending: Spending = NOTHING_SPENT) {
  const { calls, inputTokens, cachedTokens, outputTokens, costMicrocents, unpriced } = spending;
  return {
    provider_calls: calls,
    provider_input_tokens: inputTokens,
    provider_cached_tokens: cachedTokens,
    provider_output_tokens: outputTokens,
    provider_cost_cents: Math.round(costMicrocents / 100) / 10_000,
    provider_calls_unpriced: unpriced,
  };
}
