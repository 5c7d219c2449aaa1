import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Scope } from '../../schemas/accounts.ts';
import { expressionIndexes } from './expression-indexes.ts';
import { TextArray } from './text-array.ts';

/**
 * A person's account. Its erasure deletes all rows that belong to it, by `on delete cascade` or by explicit statements.
 */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.uuid().primary(),
    /** The address as the person wrote it, in NFC, trimmed. */
    email: p.text(),
    /** The normalized address. */
    emailKey: p.text().unique(),
    name: p.text().default(''),
    /** argon2id, with its parameters and salt. */
    passwordHash: p.text(),
    /**
     * Wanted share of correct predictions among those whose confidence reaches the suggested threshold; null for the
     * default.
     */
    precisionTarget: p.double().$type<number>().nullable(),
    /** No prediction of a reply has a lower threshold; null for none. */
    thresholdFloor: p.double().$type<number>().nullable(),
    /** False if nothing is decided for the person: no reply is `auto`, no permission is given. */
    automatic: p.boolean().default(true),
    /** True if a permission that the person always refused is denied. */
    deny: p.boolean().default(false),
    /** Share of what would be automatic that the person is asked all the same, to check it. */
    checkShare: p.double().$type<number>().defaultRaw('0.03'),
    /** True if a mail a day says how much was decided for the person. */
    dailyNote: p.boolean().default(true),
    /** Time of the latest such mail. */
    notedAt: p.datetime(3).nullable(),
    /** False if an operator has disabled the account or it is being erased: its credentials do not work. */
    active: p.boolean().default(true),
    /** Number of times that all log-ins were ended. Access tokens of earlier generations are invalid. */
    loginGeneration: p.integer().default(0),
    /** Number of changes of the account's memory: profile, facts, episodes and raw rows. */
    memoryRevision: p.bigint('number').default(0),
    createdAt: p.datetime(3),
    /** Time of the last change. During an erasure, the time at which the erasure began. */
    updatedAt: p.datetime(3),
    /** Time at which the erasing process last renewed its lease; null if the account is not being erased. */
    erasingAt: p.datetime(3).nullable(),
  },
  indexes: expressionIndexes('accounts', { erasing: `("erasing_at") where erasing_at is not null` }),
});
export type Account = InferEntity<typeof Account>;

/** Usage that quotas limit. Storing or deleting recorded sessions or events updates the row in the same transaction. */
export const AccountUsage = defineEntity({
  name: 'AccountUsage',
  tableName: 'account_usage',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    sessions: p.bigint('number').default(0),
    events: p.bigint('number').default(0),
    /** Size of the recorded events' JSON in UTF-8. */
    bytes: p.bigint('number').default(0),
  },
});

const expiringCredential = () => ({
  hash: p.blob().primary(),
  account: () => p.manyToOne(Account).deleteRule('cascade').index(),
  createdAt: p.datetime(3),
  expiresAt: p.datetime(3).index(),
});

/** A log-in: the token that renews its access tokens. Revoked by deletion, after which earlier access tokens live on. */
export const RefreshToken = defineEntity({
  name: 'RefreshToken',
  tableName: 'refresh_tokens',
  properties: {
    ...expiringCredential(),
    id: p.uuid().unique(),
    /** The browser or program that logged in, and its system, in words of ours; null if unknown. */
    client: p.text().nullable(),
    system: p.text().nullable(),
    /** Time of the last renewal, precise to the minute. An access token may have been used up to an hour later. */
    lastUsedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export type RefreshToken = InferEntity<typeof RefreshToken>;

/** A log-in that its owner ended, whose access tokens do not work either. Kept until these have expired. */
export const EndedLogIn = defineEntity({
  name: 'EndedLogIn',
  tableName: 'ended_log_ins',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    endedAt: p.datetime(3).index(),
  },
});

/** A long-lived key of an account. Revoked by deletion. */
export const ServiceKey = defineEntity({
  name: 'ServiceKey',
  tableName: 'service_keys',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    hash: p.blob().unique(),
    /** First characters of the key, so that people can tell keys apart. */
    prefix: p.text(),
    label: p.text(),
    /** Null: all scopes. */
    scopes: p.type(TextArray).$type<Scope[]>().nullable(),
    /** No prediction asked for with the key has a lower threshold; null for none. */
    thresholdFloor: p.double().$type<number>().nullable(),
    createdAt: p.datetime(3),
    /** From then on the key is unknown; null for never. */
    expiresAt: p.datetime(3).nullable(),
    /** Precise to the minute, so that a busy key does not cost a write for each call. */
    lastUsedAt: p.datetime(3).nullable(),
  },
});
export type ServiceKey = InferEntity<typeof ServiceKey>;

/** A browser that is signed in to the consent page, and to nothing else. */
export const WebSession = defineEntity({
  name: 'WebSession',
  tableName: 'web_sessions',
  properties: expiringCredential(),
});

/** A one-time link to set a new password. A new password ends all log-ins, which also deletes the link. */
export const PasswordReset = defineEntity({
  name: 'PasswordReset',
  tableName: 'password_resets',
  properties: expiringCredential(),
});

/** A one-time link that confirms the new address of an account. Ends as a `PasswordReset` does. */
export const EmailChange = defineEntity({
  name: 'EmailChange',
  tableName: 'email_changes',
  properties: { ...expiringCredential(), email: p.text() },
});

/** An invitation to sign up. It works once; only the hash of its code is stored. */
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

/** Someone who wants a message when sign-up opens. */
export const WaitlistEntry = defineEntity({
  name: 'WaitlistEntry',
  tableName: 'waitlist',
  properties: {
    emailKey: p.text().primary(),
    email: p.text(),
    createdAt: p.datetime(3),
  },
});

/**
 * A network from which an account has logged in. Wrong passwords from elsewhere do not lock out log-ins from this
 * network.
 */
export const LoginNetwork = defineEntity({
  name: 'LoginNetwork',
  tableName: 'login_networks',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    /** A keyed hash over account and network; no address is stored. */
    hash: p.blob().primary(),
    expiresAt: p.datetime(3).index(),
  },
});
