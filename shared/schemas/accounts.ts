import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf, text } from './build.ts';
import { Name, NullableText, PrecisionTarget, pageLimit, Share, Timestamp } from './common.ts';
import { EMAIL_MAX, KEYS_MAX, NAME_MAX, PASSWORD_MAX, PASSWORD_MIN, TEXT_MAX, UUID } from './limits.ts';

/** An e-mail address. Surrounding white space is ignored. */
const Email = Type.String({ format: 'email', maxLength: EMAIL_MAX, wellFormed: true });
const NewPassword = text(PASSWORD_MAX, PASSWORD_MIN);
/**
 * A secret that is compared with the stored one. Any text is valid input: one that cannot be a secret is merely wrong.
 */
const Secret = text(TEXT_MAX);

const newUserFields = { email: Email, password: NewPassword, name: Type.Optional(text(NAME_MAX)) };

export const NewUser = closedObject(newUserFields);

export const SignupRequest = closedObject({ ...newUserFields, invite_code: Type.Optional(Secret) });

export const LoginRequest = closedObject({ email: text(EMAIL_MAX), password: text(PASSWORD_MAX) });

export const RefreshRequest = closedObject({ refresh: Secret });

/** Uses `if` rather than `anyOf`, so that a single validation error names the missing field. */
export const LogoutRequest = Type.Object(
  { refresh: Type.Optional(Secret), all: Type.Optional(Type.Boolean()) },
  {
    additionalProperties: false,
    if: { type: 'object', required: ['all'], properties: { all: { const: true } } },
    else: { required: ['refresh'], properties: { refresh: true } },
  },
);

export const InviteRequest = closedObject({ code: Secret });

export const WaitlistRequest = closedObject({ email: Email });

export const AccountChange = closedObject({
  name: Type.Optional(text(NAME_MAX)),
  /** Default of `target` in requests for the calibration; null for 0.95. */
  precision_target: Type.Optional(nullable(PrecisionTarget)),
  /** Lowest threshold of predicted replies, whatever a request says; null for none. */
  threshold_floor: Type.Optional(nullable(Share)),
  password: Type.Optional(NewPassword),
  current_password: Type.Optional(text(PASSWORD_MAX)),
  revoke_keys: Type.Optional(Type.Boolean()),
});

export const EmailChangeRequest = closedObject({ email: Email, current_password: text(PASSWORD_MAX) });

export const UserResponse = closedObject({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  created_at: Timestamp,
});
export type UserResponse = Static<typeof UserResponse>;

export const LoginResponse = closedObject({
  access: Type.String(),
  refresh: Type.String(),
  user: UserResponse,
});
export type LoginResponse = Static<typeof LoginResponse>;

export const AccessResponse = closedObject({ access: Type.String() });

export const ConsoleAccessResponse = closedObject({ access: Type.String(), user: UserResponse });

export const LogoutResponse = closedObject({ status: Type.Literal('logged_out') });

export const InviteResponse = closedObject({ valid: Type.Boolean() });

export const WaitlistResponse = closedObject({ status: Type.Literal('added') });

/**
 * Permissions that a key may have. `write` adds and changes; `forget` deletes. The key vouches for the person's
 * decisions with `decide`, for their own words with `record`.
 */
export const SCOPES = ['read', 'predict', 'write', 'forget', 'decide', 'record'] as const;
export type Scope = (typeof SCOPES)[number];
/** If absent, the key has all scopes. */
const scopes = Type.Optional(Type.Array(oneOf(SCOPES), { minItems: 1, maxItems: SCOPES.length }));

/** Lowest threshold of the replies that the key may ask for. Without it, that of the account. */
const threshold_floor = Type.Optional(Share);

/** The key is valid until then; without it, until it is revoked. */
const expires_at = Type.Optional(Timestamp);

export const KeyRequest = closedObject({ label: Name, scopes, threshold_floor, expires_at });

/** The only answer that contains the key itself. */
export const NewKeyResponse = closedObject({
  id: Type.String(),
  key: Type.String(),
  label: Type.String(),
  scopes,
  threshold_floor,
  expires_at,
  created_at: Timestamp,
});
export type NewKeyResponse = Static<typeof NewKeyResponse>;

/** Rows that are still kept. */
const KeyYield = closedObject({
  /** Raw rows of memory, recorded or posted. */
  messages: Type.Integer(),
  /** Replies that were predicted. */
  predictions: Type.Integer(),
  /** Permissions that were asked for. */
  permissions: Type.Integer(),
  /** Predictions of replies that it gave the latest feedback on. */
  decisions: Type.Integer(),
});
export type KeyYield = Static<typeof KeyYield>;

export const KeyResponse = closedObject({
  id: Type.String(),
  label: Type.String(),
  scopes,
  threshold_floor,
  expires_at,
  prefix: Type.String(),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
});
export type KeyResponse = Static<typeof KeyResponse>;

export const KeyListQuery = Type.Object({
  limit: pageLimit(KEYS_MAX, KEYS_MAX),
  /** Id of the last key on the previous page. */
  cursor: Type.Optional(Type.String({ pattern: UUID.source })),
  /** `true` adds what each key brought. */
  brought: Type.Optional(oneOf(['true', 'false'])),
});
export type KeyListQuery = Static<typeof KeyListQuery>;

const ListedKey = closedObject({ ...KeyResponse.properties, brought: Type.Optional(KeyYield) });
export type ListedKey = Static<typeof ListedKey>;
export const KeyList = closedObject({ results: Type.Array(ListedKey) });

export const LogInResponse = closedObject({
  id: Type.String(),
  /** The browser or program, such as `Firefox` or `curl`; null if unknown. */
  client: NullableText,
  system: NullableText,
  created_at: Timestamp,
  last_used_at: Timestamp,
  /** The log-in of this request's access token. */
  current: Type.Boolean(),
});
export type LogInResponse = Static<typeof LogInResponse>;

export const LogInList = closedObject({ results: Type.Array(LogInResponse) });
export type LogInList = Static<typeof LogInList>;

const grantScopes = Type.Array(oneOf(SCOPES), { minItems: 1, maxItems: SCOPES.length });

/** What a program may do that has logged in by OAuth. */
export const GrantResponse = closedObject({
  id: Type.String(),
  /** The program's name, as it calls itself. */
  client_name: Type.String(),
  /** Where the program describes itself; null: it registered itself, and nothing vouches for the name. */
  client_url: NullableText,
  scopes: grantScopes,
  /** What its tokens are for: the address of the tool server, or of `/api`. */
  resource: Type.String(),
  created_at: Timestamp,
  last_used_at: Timestamp,
});
export type GrantResponse = Static<typeof GrantResponse>;

export const GrantList = closedObject({ results: Type.Array(GrantResponse) });

/** Scopes that are left: some of those that the program has. */
export const GrantChange = closedObject({ scopes: grantScopes });

/** One line of an export: `type` names the kind of row in `data`. */
export const ExportLine = closedObject({
  type: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown()),
});
export type ExportLine = Static<typeof ExportLine>;
