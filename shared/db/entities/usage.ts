import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * An app's units in a UTC month (`YYYY-MM`). `reserved` and `settled` count both plans, `paid…` the paid ones
 * among them; amounts are millionths of a cent at the price of each unit's admission.
 */
export const Usage = defineEntity({
  name: 'Usage',
  tableName: 'usage',
  properties: {
    appId: p.uuid().primary(),
    month: p.string().length(7).primary(),
    reserved: p.integer().default(0),
    settled: p.integer().default(0),
    paidReserved: p.integer().default(0),
    paidSettled: p.integer().default(0),
    paidReservedMicrocents: p.bigint('number').default(0),
    paidSettledMicrocents: p.bigint('number').default(0),
    /** The turn of the app's latest prediction. */
    turn: p.bigint('number').default(0),
  },
  checks: [
    {
      name: 'usage_reserved_check',
      expression: 'reserved >= 0 and paid_reserved >= 0 and paid_reserved_microcents >= 0',
    },
  ],
});
export type Usage = InferEntity<typeof Usage>;
