import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { EVENT_KINDS, MIN_CONFIDENCE, PLANS } from '../../schemas/limits.ts';
import { Account } from './account.ts';

/** A customer's application: its plan, its cap and how it wants to be served. Never deleted, only deactivated. */
export const App = defineEntity({
  name: 'App',
  tableName: 'apps',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    plan: p.enum([...PLANS]),
    /** Monthly spending limit in cents; null for none. */
    capCents: p.bigint('number').nullable(),
    active: p.boolean().default(true),
    redirectUris: p.array(),
    /** A native program: its loopback redirect URIs match with any port (RFC 8252, 7.3). */
    native: p.boolean().default(false),
    /** Confidence below which a prediction abstains. */
    minConfidence: p.double().default(MIN_CONFIDENCE),
    supersede: p.boolean().default(true),
    onDisconnect: p.enum(['continue', 'cancel']).default('continue'),
    /** Features that an operator has turned off. */
    disabled: p.array(),
    /** Features that the owner has turned off. */
    switchedOff: p.array(),
    /** The account that made the app; null: an operator has it. */
    owner: () => p.manyToOne(Account).nullable().deleteRule('set null').index(),
    /**
     * Random key for fingerprints of requests. Fingerprints are kept longer than the texts, and must reveal nothing
     * about them.
     */
    fingerprintKey: p.blob(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  checks: [{ name: 'apps_cap_cents_check', expression: 'cap_cents >= 0' }],
});
export type App = InferEntity<typeof App>;

/** A credential of an app. Only its SHA-256 is stored; `prefix` lets people tell keys apart. */
export const AppKey = defineEntity({
  name: 'AppKey',
  tableName: 'app_keys',
  properties: {
    id: p.uuid().primary(),
    app: () => p.manyToOne(App),
    hash: p.blob().unique(),
    prefix: p.text(),
    createdAt: p.datetime(3),
    /** Time at which a rotated key stops working; in the past for a revoked key. */
    expiresAt: p.datetime(3).nullable(),
  },
});
export type AppKey = InferEntity<typeof AppKey>;

/**
 * An app's units in a UTC month (`YYYY-MM`). `reserved` and `settled` count the units of both plans, `paid...` only
 * paid units; amounts are millionths of a cent, at the price when each unit was admitted.
 */
export const Usage = defineEntity({
  name: 'Usage',
  tableName: 'usage',
  properties: {
    appId: p.uuid().primary(),
    month: p.string().length(7).primary(),
    /**
     * An app's usage of a month is one row. After 100 writes a new row, the next page, replaces it:
     * shared/db/sql/usage.sql.
     */
    page: p.integer().primary().default(0),
    reserved: p.integer().default(0),
    settled: p.integer().default(0),
    paidReserved: p.integer().default(0),
    paidSettled: p.integer().default(0),
    paidReservedMicrocents: p.bigint('number').default(0),
    paidSettledMicrocents: p.bigint('number').default(0),
    /** Number of writes to this page. */
    writes: p.integer().default(0),
  },
  checks: [
    {
      name: 'usage_reserved_check',
      expression: 'reserved >= 0 and paid_reserved >= 0 and paid_reserved_microcents >= 0',
    },
  ],
});

/** Units that an app had settled in a month until the end of a day of it, by UTC. Kept for 35 days. */
export const UsageDay = defineEntity({
  name: 'UsageDay',
  tableName: 'usage_days',
  properties: {
    appId: p.uuid().primary(),
    day: p.date().primary().index(),
    settled: p.integer(),
  },
});

/** Number of an app's calls that ended with an error, by hour and error code. Kept for a week. */
export const Refusal = defineEntity({
  name: 'Refusal',
  tableName: 'refusals',
  properties: {
    hour: p.datetime(3).primary(),
    appId: p.uuid().primary(),
    code: p.text().primary(),
    calls: p.integer(),
    lastAt: p.datetime(3),
  },
});

/** An event that an app reported about a prediction. Kept for `TOMBSTONE_DAYS` after the report. */
export const PredictionEvent = defineEntity({
  name: 'PredictionEvent',
  tableName: 'prediction_events',
  properties: {
    appId: p.uuid().primary(),
    eventId: p.string().length(80).primary(),
    predictionId: p.uuid(),
    requestId: p.string().length(80),
    userId: p.text(),
    kind: p.enum([...EVENT_KINDS]),
    /** False if the prediction suggested nothing. Null in rows that are older than this column. */
    suggested: p.boolean().nullable(),
    /** Share of an accepted completion that was still there when the message was sent, from 0 to 1. */
    retained: p.float().nullable(),
    recordedAt: p.datetime(3),
  },
  indexes: [
    { name: 'prediction_events_recorded', properties: ['recordedAt'] },
    { name: 'prediction_events_prediction', properties: ['predictionId'] },
    { name: 'prediction_events_person', properties: ['appId', 'userId', 'recordedAt'] },
  ],
});
