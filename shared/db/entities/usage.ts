import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * An app's units in a UTC month (`YYYY-MM`). `reserved` and `settled` count both plans, `paid…` only paid units;
 * amounts are millionths of a cent, at the price when each unit was admitted.
 */
export const Usage = defineEntity({
  name: 'Usage',
  tableName: 'usage',
  properties: {
    appId: p.uuid().primary(),
    month: p.string().length(7).primary(),
    /** One page is visible at a time: shared/db/sql/usage.sql. */
    page: p.integer().primary().default(0),
    reserved: p.integer().default(0),
    settled: p.integer().default(0),
    paidReserved: p.integer().default(0),
    paidSettled: p.integer().default(0),
    paidReservedMicrocents: p.bigint('number').default(0),
    paidSettledMicrocents: p.bigint('number').default(0),
    /** Writes since the page began. */
    writes: p.integer().default(0),
  },
  checks: [
    {
      name: 'usage_reserved_check',
      expression: 'reserved >= 0 and paid_reserved >= 0 and paid_reserved_microcents >= 0',
    },
  ],
});
export type Usage = InferEntity<typeof Usage>;
