import { defineEntity, p } from '@mikro-orm/core';
import type { PublishedSettings } from '../../config/published-settings.ts';

/**
 * A process. While it lives, its row is the lease on the work that it runs, and shows that its clients may still wait.
 */
export const Process = defineEntity({
  name: 'Process',
  tableName: 'processes',
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    aliveUntil: p.datetime(3),
    /**
     * Start of the unbroken series of heartbeats. During the first lease after it, the process declares no other
     * process dead.
     */
    since: p.datetime(3).nullable(),
    /** `ServedPools` of a worker. */
    pools: p.json<Record<string, { slots: number; claimed: number; stalledMs: number }>>().nullable(),
    /**
     * The process's configuration, which `admin doctor` compares with that of other processes. Null once it has stopped
     * in an orderly way: the row is kept for a while because callers of the process may come back.
     */
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
    /** Index of the round's current step. Each step queues jobs of one kind. */
    step: p.smallint().default(0),
    /** The last account that the round has processed; null if no round is running. */
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

/**
 * Points that a client has used in the current window of a rate limit. The table is unlogged: a crash may lose them.
 */
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

/** The latest `admin backup`. One row at most. */
export const Backup = defineEntity({
  name: 'Backup',
  tableName: 'backups',
  properties: { takenAt: p.datetime(3).primary() },
});
