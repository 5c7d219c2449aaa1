import { defineEntity, p } from '@mikro-orm/core';
import type { PublishedSettings } from '../../config/published-settings.ts';

/** While a process lives, its row is the lease on all that it runs, and the sign that its callers still wait. */
export const Process = defineEntity({
  name: 'Process',
  tableName: 'processes',
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    aliveUntil: p.datetime(3),
    /** Start of its unbroken heartbeats. For one lease after that, it declares no other process dead. */
    since: p.datetime(3).nullable(),
    /** The pools that it serves: name -> slots, and number of pieces of work claimed since it started. */
    pools: p.json<Record<string, { slots: number; claimed: number }>>().nullable(),
    /** Its own configuration, which `admin doctor` compares. */
    settings: p.json<PublishedSettings>().nullable(),
  },
});

/**
 * A recurring job and the state of its latest round. A round goes through the accounts by their ids, a page at a time,
 * so that any scheduler process can go on where another one died.
 */
export const Schedule = defineEntity({
  name: 'Schedule',
  tableName: 'schedules',
  properties: {
    name: p.text().primary(),
    /** Cron pattern in UTC; null: off. */
    pattern: p.text().nullable(),
    nextTick: p.datetime(3).nullable(),
    lastTick: p.datetime(3).nullable(),
    /** Time at which the last tick fired: the tick's own time or later. */
    firedAt: p.datetime(3).nullable(),
    /** Place of the round's current step, from 0. A step admits jobs of one kind. */
    step: p.smallint().default(0),
    /** The last account that the round has processed; null if no round is open. */
    position: p.uuid().nullable(),
    /** The process that works on the round, and the end of its exclusive turn. */
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

/** Points used in the current window of a limit. The table is unlogged: a crash may lose them. */
export const RateLimit = defineEntity({
  name: 'RateLimit',
  tableName: 'rate_limits',
  properties: {
    key: p.string().length(255).primary(),
    points: p.integer().default(0),
    /** The window's end, in milliseconds since the epoch; also serves as the window's id. */
    expire: p.bigint('number').nullable(),
  },
});
