import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf } from './build.ts';
import { Count, NullableText, NullableTimestamp, Share, Timestamp } from './common.ts';
import { RedirectUri } from './connections.ts';
import { APP_GRACE_S_MAX, CAP_CENTS_MAX, NAME_MAX, PLANS, PREDICTION_MODES } from './limits.ts';
import { UsageResponse } from './usage.ts';

/** Features of an app that can be turned off. */
export const FEATURES = ['predictions', 'connections', ...PREDICTION_MODES] as const;

const AppName = Type.String({
  minLength: 1,
  maxLength: NAME_MAX,
  pattern: '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$',
});
const RedirectUris = Type.Array(RedirectUri, { maxItems: 20 });
const Features = Type.Array(oneOf(FEATURES), { maxItems: FEATURES.length });

const changeable = {
  name: Type.Optional(AppName),
  redirect_uris: Type.Optional(RedirectUris),
  /** A native program: its loopback redirect URIs match with any port (RFC 8252, 7.3). */
  native: Type.Optional(Type.Boolean()),
};

export const AppRequest = closedObject({ ...changeable, name: AppName });

export const AppChange = closedObject({
  ...changeable,
  min_confidence: Type.Optional(Share),
  supersede: Type.Optional(Type.Boolean()),
  on_disconnect: Type.Optional(oneOf(['continue', 'cancel'])),
  /** Features that the owner has turned off; others are on, unless an operator has disabled them. */
  switched_off: Type.Optional(Features),
  /** At most the present one: only an operator raises it. */
  monthly_cap_cents: Type.Optional(Type.Integer({ minimum: 0, maximum: CAP_CENTS_MAX })),
});
export type AppChange = Static<typeof AppChange>;

const appFields = {
  app_id: Type.String(),
  name: Type.String(),
  plan: oneOf(PLANS),
  monthly_cap_cents: nullable(Count),
  active: Type.Boolean(),
  native: Type.Boolean(),
  redirect_uris: Type.Array(Type.String()),
  min_confidence: Share,
  supersede: Type.Boolean(),
  on_disconnect: oneOf(['continue', 'cancel']),
  /** Features that an operator has disabled. */
  disabled: Type.Array(Type.String()),
  switched_off: Type.Array(Type.String()),
  created_at: Timestamp,
};
export const AppResponse = closedObject(appFields);
export type AppResponse = Static<typeof AppResponse>;

export const AppList = closedObject({
  results: Type.Array(AppResponse),
  /** Whether the account may make another app. */
  may_create: Type.Boolean(),
});

/** The only answer that contains the key. */
export const NewAppResponse = closedObject({ ...appFields, key: Type.String() });

export const AppKeyRequest = closedObject({
  /** How long the keys before this one go on. */
  grace_s: Type.Integer({ minimum: 0, maximum: APP_GRACE_S_MAX }),
});
export const NewAppKeyResponse = closedObject({ key: Type.String() });

const AppKeyResponse = closedObject({
  prefix: Type.String(),
  created_at: Timestamp,
  expires_at: NullableTimestamp,
});
export type AppKeyResponse = Static<typeof AppKeyResponse>;

/** Calls that ended with an error in the last 24 hours. */
const AppRefusal = closedObject({
  code: Type.String(),
  calls: Count,
  last_at: Timestamp,
  means: NullableText,
});
export type AppRefusal = Static<typeof AppRefusal>;

const AppDay = closedObject({ date: Type.String({ format: 'date' }), prediction_units: Count });
export type AppDay = Static<typeof AppDay>;

export const AppDetail = closedObject({
  ...appFields,
  keys: Type.Array(AppKeyResponse),
  /** This month. */
  used: UsageResponse,
  /** Days with units, earliest first, of the last 35. */
  days: Type.Array(AppDay),
  refused: Type.Array(AppRefusal),
  /** Number of people who are connected. */
  people: Count,
});
export type AppDetail = Static<typeof AppDetail>;
