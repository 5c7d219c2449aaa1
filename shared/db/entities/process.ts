import { defineEntity, p } from '@mikro-orm/core';

/** A living process. Its row is the lease on everything that it runs, and the sign that its callers still wait. */
export const Process = defineEntity({
  name: 'Process',
  tableName: 'processes',
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    aliveUntil: p.datetime(3),
    /**
     * Since when its heartbeats are unbroken. A process that was cut off declares nobody dead for a lease after that.
     */
    since: p.datetime(3).nullable(),
    /** The pools that it serves: name → slots, and how much work it has claimed since it started. */
    pools: p.json<Record<string, { slots: number; claimed: number }>>().nullable(),
  },
});
