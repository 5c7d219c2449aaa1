import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Scope } from '../../schemas/accounts.ts';
import { Account } from './account.ts';
import { TextArray } from './text-array.ts';

/**
 * What a person allowed a program that logs in by OAuth. Revoked by deletion, which ends its tokens. Refresh tokens are
 * not stored: a token is the grant's id, its number and a MAC over both, and `refreshes` is the number of the valid one.
 */
export const Grant = defineEntity({
  name: 'Grant',
  tableName: 'grants',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    clientId: p.text(),
    /** The program's name, as it calls itself. */
    clientName: p.text(),
    scopes: p.type(TextArray).$type<Scope[]>(),
    /** Audience of its access tokens (RFC 8707). */
    resource: p.text(),
    refreshes: p.integer().default(0),
    createdAt: p.datetime(3),
    /** Time of the last refresh, to which the use of a token of an hour is at most an hour later. */
    lastUsedAt: p.datetime(3).index(),
  },
});
export type Grant = InferEntity<typeof Grant>;

/** A code for a program to exchange (RFC 6749, 4.1). Only its hash is stored. */
export const GrantCode = defineEntity({
  name: 'GrantCode',
  tableName: 'grant_codes',
  properties: {
    hash: p.blob().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    clientId: p.text(),
    clientName: p.text(),
    redirectUri: p.text(),
    /** S256 hash of the program's code verifier. */
    codeChallenge: p.string().length(43),
    scopes: p.type(TextArray).$type<Scope[]>(),
    resource: p.text(),
    expiresAt: p.datetime(3).index(),
    /** The grant that the code was exchanged for: a second exchange revokes it (RFC 6749, 10.5). */
    grantId: p.uuid().nullable(),
  },
});
export type GrantCode = InferEntity<typeof GrantCode>;
