import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { App } from './app.ts';

/**
 * An app's permission to use an account's memory for one of its users. Kept when revoked: connecting again revives it.
 */
export const Connection = defineEntity({
  name: 'Connection',
  tableName: 'connections',
  properties: {
    id: p.uuid().primary(),
    app: () => p.manyToOne(App),
    userId: p.text(),
    /** Null when the account was erased. */
    account: () => p.manyToOne(Account).nullable().deleteRule('set null').index(),
    status: p.enum(['connected', 'revoked']),
    /** Counts the grants, from 1. */
    grantRevision: p.integer(),
    createdAt: p.datetime(3),
    grantedAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'connections_app_user', properties: ['app', 'userId'] }],
});
export type Connection = InferEntity<typeof Connection>;

/**
 * One attempt to connect a user, from its start by the app through the person's decision to the exchange of the code
 * (RFC 6749, 4.1; RFC 7636). `answer` is the body of the exchange that made the grant, kept for repetitions.
 */
export const ConnectionAttempt = defineEntity({
  name: 'ConnectionAttempt',
  tableName: 'connection_attempts',
  properties: {
    id: p.uuid().primary(),
    app: () => p.manyToOne(App),
    userId: p.text(),
    redirectUri: p.text(),
    state: p.text(),
    /** S256 of the app's verifier. */
    codeChallenge: p.string().length(43),
    status: p.enum(['pending', 'approved', 'denied', 'exchanged', 'burned']).default('pending'),
    createdAt: p.datetime(3),
    /** Until when the person may decide. */
    expiresAt: p.datetime(3),
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade').index(),
    /** SHA-256 of the code. */
    codeHash: p.blob().nullable(),
    codeExpiresAt: p.datetime(3).nullable(),
    /** Wrong exchanges after the approval. */
    mismatches: p.smallint().default(0),
    connection: () => p.manyToOne(Connection).nullable(),
    grantRevision: p.integer().nullable(),
    answer: p.text().nullable(),
  },
  indexes: [
    { name: 'connection_attempts_expires', properties: ['expiresAt'] },
    {
      name: 'connection_attempts_pending',
      expression: `create index "connection_attempts_pending" on "connection_attempts" ("app_id", "expires_at") where status = 'pending'`,
    },
  ],
});
export type ConnectionAttempt = InferEntity<typeof ConnectionAttempt>;
