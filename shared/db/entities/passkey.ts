import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { TextArray } from './text-array.ts';

/** A passkey (WebAuthn), with which its owner logs in beside the password. Removed by deletion. */
export const Passkey = defineEntity({
  name: 'Passkey',
  tableName: 'passkeys',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    credentialId: p.text().unique(),
    /** As COSE has it (RFC 9052). */
    publicKey: p.blob(),
    /** What the authenticator has counted; 0 if it does not count. */
    counter: p.bigint('number'),
    transports: p.type(TextArray).$type<string[]>(),
    name: p.text(),
    /** True if its provider keeps a copy, so that it outlives the device. */
    backedUp: p.boolean(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
  },
});
export type Passkey = InferEntity<typeof Passkey>;

/** A challenge to an authenticator, which works once. Without an account it is one to log in. */
export const PasskeyChallenge = defineEntity({
  name: 'PasskeyChallenge',
  tableName: 'passkey_challenges',
  properties: {
    hash: p.blob().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').nullable().index(),
    expiresAt: p.datetime(3).index(),
  },
});
