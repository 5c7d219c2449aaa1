import { defineEntity, p } from '@mikro-orm/core';

/** A living process. Its row is the lease of all that it runs, and its word that its callers still wait. */
export const Process = defineEntity({
  name: 'Process',
  tableName: 'processes',
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    aliveUntil: p.datetime(3),
    /** Predictions that it has taken since it started. */
    claimed: p.bigint('number').default(0),
    /** The highest turn that it has taken from the queue. */
    turn: p.bigint('number').default(0),
  },
});
