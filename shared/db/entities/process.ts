import { defineEntity, p } from '@mikro-orm/core';
import type { StatedSettings } from '../../config/stated.ts';

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
    /** Its own configuration, which `admin doctor` compares. */
    settings: p.json<StatedSettings>().nullable(),
  },
});

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
    /** The step of the round: the kind that it admits now, by its place. */
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
