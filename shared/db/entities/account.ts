import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A person. Erased as a whole: whatever belongs to an account references it with `on delete cascade`, or is deleted with it. */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.uuid().primary(),
    /** As it was given, in NFC, trimmed. */
    email: p.text(),
    /** The same in lower case: what is compared. */
    emailKey: p.text().unique(),
    name: p.text().default(''),
    /** argon2id, with its parameters and salt. */
    passwordHash: p.text(),
    /** False when an operator disabled the account: none of its credentials works. */
    active: p.boolean().default(true),
    /** Counts the changes of the account's profile and facts. */
    memoryRevision: p.bigint('number').default(0),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    /** Set once it is being erased, which is for good: when a process was last at work on it. */
    erasingAt: p.datetime(3).nullable(),
  },
  indexes: [
    {
      name: 'accounts_erasing',
      expression: `create index "accounts_erasing" on "accounts" ("erasing_at") where erasing_at is not null`,
    },
  ],
});
export type Account = InferEntity<typeof Account>;

/** What an access token is renewed with. Revoked by being deleted. */
export const RefreshToken = defineEntity({
  name: 'RefreshToken',
  tableName: 'refresh_tokens',
  properties: {
    hash: p.blob().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index(),
  },
});
export type RefreshToken = InferEntity<typeof RefreshToken>;

/** A long-lived key of an account. Revoked by being deleted. */
export const ServiceKey = defineEntity({
  name: 'ServiceKey',
  tableName: 'service_keys',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    hash: p.blob().unique(),
    /** Its first characters, by which a person tells keys apart. */
    prefix: p.text(),
    label: p.text(),
    createdAt: p.datetime(3),
    /** To the minute: a busy key does not cost a write for each call. */
    lastUsedAt: p.datetime(3).nullable(),
  },
});
export type ServiceKey = InferEntity<typeof ServiceKey>;

/** A browser that is signed in to the consent page. Good for nothing else. */
export const WebSession = defineEntity({
  name: 'WebSession',
  tableName: 'web_sessions',
  properties: {
    hash: p.blob().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index(),
  },
});
export type WebSession = InferEntity<typeof WebSession>;

/** An invitation to sign up. It works once; only the hash of its code is kept. */
export const Invite = defineEntity({
  name: 'Invite',
  tableName: 'invites',
  properties: {
    id: p.uuid().primary(),
    hash: p.blob().unique(),
    createdAt: p.datetime(3),
    usedAt: p.datetime(3).nullable(),
  },
});
export type Invite = InferEntity<typeof Invite>;

/** Somebody who wants to be told when sign-up opens. */
export const WaitlistEntry = defineEntity({
  name: 'WaitlistEntry',
  tableName: 'waitlist',
  properties: {
    emailKey: p.text().primary(),
    email: p.text(),
    createdAt: p.datetime(3),
  },
});
