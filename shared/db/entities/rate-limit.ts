import { defineEntity, p } from '@mikro-orm/core';

/**
 * The points used in a limit's current window. Unlogged: a crash may lose them.
 */
export const RateLimit = defineEntity({
  name: 'RateLimit',
  tableName: 'rate_limits',
  properties: {
    key: p.string().length(255).primary(),
    points: p.integer().default(0),
    /** The window's end, in milliseconds since the epoch; it names the window, too. */
    expire: p.bigint('number').nullable(),
  },
});
