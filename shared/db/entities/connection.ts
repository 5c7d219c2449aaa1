import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { CONSENT_MEMORY } from '../../schemas/connections.ts';
import { Account } from './account.ts';
import { App } from './app.ts';
import { expressionIndexes } from './expression-indexes.ts';
import { TextArray } from './text-array.ts';

/**
 * An app's permission to use an account's memory for one of the app's users. Connecting the user again reactivates a
 * revoked connection.
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
    /** Number of grants so far, which is also the number of the present grant. */
    grantRevision: p.integer(),
    /** Number of the first grant by the present account; 0 before there was one. */
    accountGrant: p.integer().default(0),
    createdAt: p.datetime(3),
    grantedAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    /** Memory that the app's predictions may use: all of it, or only the profile and the facts. */
    memory: p.enum([...CONSENT_MEMORY]).default('all'),
    /** Projects of which the app's predictions may use memory; null for all, and what was said in none. */
    projects: p.type(TextArray).$type<string[]>().nullable(),
    /** When the grant ends as by a revoke. */
    endsAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'connections_app_user', properties: ['app', 'userId'] }],
  indexes: expressionIndexes('connections', {
    ends: `("ends_at") where status = 'connected' and ends_at is not null`,
  }),
});
export type Connection = InferEntity<typeof Connection>;

/** One attempt to connect a user: started by the app, decided by the person (RFC 6749, 4.1; RFC 7636). */
export const ConnectionAttempt = defineEntity({
  name: 'ConnectionAttempt',
  tableName: 'connection_attempts',
  properties: {
    id: p.uuid().primary(),
    app: () => p.manyToOne(App),
    userId: p.text(),
    redirectUri: p.text(),
    state: p.text(),
    /** S256 hash of the app's code verifier. */
    codeChallenge: p.string().length(43),
    status: p.enum(['pending', 'approved', 'denied', 'exchanged', 'burned']).default('pending'),
    createdAt: p.datetime(3),
    /** End of the time in which the person may decide. */
    expiresAt: p.datetime(3),
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade').index(),
    /** SHA-256 of the code. */
    codeHash: p.blob().nullable(),
    codeExpiresAt: p.datetime(3).nullable(),
    /** Number of exchanges with wrong values after the approval. */
    mismatches: p.smallint().default(0),
    connection: () => p.manyToOne(Connection).nullable(),
    grantRevision: p.integer().nullable(),
    /** Response to the exchange of the code, returned again if the exchange is repeated. */
    answer: p.text().nullable(),
    /** What the person allowed: the same columns of the connection get it. */
    memory: p.enum([...CONSENT_MEMORY]).default('all'),
    projects: p.type(TextArray).$type<string[]>().nullable(),
    endsAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'connection_attempts_expires', properties: ['expiresAt'] },
    ...expressionIndexes('connection_attempts', {
      pending: `("app_id", "expires_at") where status = 'pending'`,
    }),
  ],
});

export type ConnectionAttempt = InferEntity<typeof ConnectionAttempt>;

/** A connection whose grant has ended. Its work admitted until `endedAt` must still be ended, a batch at a time. */
export const EndingConnection = defineEntity({
  name: 'EndingConnection',
  tableName: 'ending_connections',
  properties: {
    connectionId: p.uuid().primary(),
    endedAt: p.datetime(3),
  },
});

/**
 * An ended grant, stored when the account is erased, or when another account takes over the connection: the connection
 * then no longer names the account. The erasure of the account must erase the connection's predictions admitted until
 * `endedAt`. Their answers can no longer be read.
 */
export const ErasingGrant = defineEntity({
  name: 'ErasingGrant',
  tableName: 'erasing_grants',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    connectionId: p.uuid().primary(),
    /** Number of the grant; 0, stored when the account itself is erased, stands for all grants of the connection. */
    grantRevision: p.integer().primary(),
    /** End of the grant. Lowered as the erasure proceeds: predictions admitted later are already erased. */
    endedAt: p.datetime(3),
  },
  indexes: [{ name: 'erasing_grants_connection', properties: ['connectionId'] }],
});
