import { defineEntity, p } from '@mikro-orm/core';

/**
 * A recurring job: what fires it when, and how far its last round has come. A round goes through the accounts by their
 * ids, a page at a time, so that any scheduler process can go on where another one died.
 */
export const Schedule = defineEntity({
  name: 'Schedule',
  tableName: 'schedules',
  properties: {
    name: p.text().primary(),
    /** A cron pattern, in UTC; null: off. */
    pattern: p.text().nullable(),
    nextTick: p.datetime(3).nullable(),
    lastTick: p.datetime(3).nullable(),
    /** When the last tick fired, which is later than the tick itself. */
    firedAt: p.datetime(3).nullable(),
    /** Which of its kinds the round admits now. */
    step: p.smallint().default(0),
    /** The last account that the round has looked at; null: no round is open. */
    position: p.uuid().nullable(),
    /** The process that works on the round, and until when nobody else may. */
    holder: p.uuid().nullable(),
    heldUntil: p.datetime(3).nullable(),
  },
});

/** A pool whose workers claim nothing until an operator resumes it. */
export const PausedPool = defineEntity({
  name: 'PausedPool',
  tableName: 'paused_pools',
  properties: {
    pool: p.text().primary(),
    pausedAt: p.datetime(3),
  },
});
