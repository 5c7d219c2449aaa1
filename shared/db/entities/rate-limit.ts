import { defineEntity, p } from '@mikro-orm/core';

/** What is used of a limit in its present window, as rate-limiter-flexible keeps it. Unlogged: a crash may forget it. */
export const RateLimit = defineEntity({
  name: 'RateLimit',
  tableName: 'rate_limits',
  properties: {
    key: p.string().length(255).primary(),
    points: p.integer().default(0),
    /** Milliseconds since the epoch. */
    expire: p.bigint('number').nullable(),
  },
});
