import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf } from './build.ts';
import { Count } from './common.ts';
import { MONTH_PATTERN, PLANS } from './limits.ts';

export const UsageQuery = Type.Object({ month: Type.Optional(Type.String({ pattern: MONTH_PATTERN })) });

export const UsageResponse = closedObject({
  app_id: Type.String(),
  month: Type.String(),
  plan: oneOf(PLANS),
  prediction_units: Count,
  reserved_units: Count,
  paid_prediction_units: Count,
  invoice_cents: Count,
  monthly_cap_cents: nullable(Count),
  sandbox_remaining: Count,
  currency: oneOf(['USD']),
  billing_model: oneOf(['manual']),
  cap_scope: oneOf(['app']),
});
export type UsageResponse = Static<typeof UsageResponse>;
