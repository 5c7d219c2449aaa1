import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A connection whose grant ended while more ran under it than one step ends: what was admitted until then has to end. */
export const EndingConnection = defineEntity({
  name: 'EndingConnection',
  tableName: 'ending_connections',
  properties: {
    connectionId: p.uuid().primary(),
    endedAt: p.datetime(3),
  },
});
export type EndingConnection = InferEntity<typeof EndingConnection>;
