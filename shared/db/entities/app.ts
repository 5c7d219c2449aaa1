import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { PLANS } from '../../schemas/limits.ts';

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
    /** A prediction with less confidence abstains. */
    minConfidence: p.double().default(0.3),
    supersede: p.boolean().default(true),
    onDisconnect: p.enum(['continue', 'cancel']).default('continue'),
    disabled: p.array(),
    /** Random key of the fingerprints, which outlive the texts and must reveal nothing about them. */
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
    /** When a rotated key stops working; in the past for a revoked one. */
    expiresAt: p.datetime(3).nullable(),
  },
});
export type AppKey = InferEntity<typeof AppKey>;
