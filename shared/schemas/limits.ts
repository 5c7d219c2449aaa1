/** Limits and enums of the API that several files use. */

export const IDENTIFIER_PATTERN = '^[A-Za-z0-9._:-]+$';
export const IDENTIFIER_MAX = 80;
export const NAME_MAX = 200;
export const EMAIL_MAX = 254;
export const PASSWORD_MIN = 10;
export const PASSWORD_MAX = 200;
/** Canonical form of a UUID (RFC 9562, 4). */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const MONTH_PATTERN = '^\\d{4}-(0[1-9]|1[0-2])$';
export const TEXT_MAX = 8000;
export const SELECTION_MAX = 1000;
export const PREFERENCES_MAX = 4000;
export const MESSAGES_MAX = 30;
/** Completions beside the first. */
export const ALTERNATIVES_MAX = 2;
export const COMPLETION_MAX = 2000;
export const EVENT_BATCH_MAX = 1000;
export const EVENT_TEXT_MAX = 64_000;
export const SOURCE_DETAIL_MAX = 2000;
/** Maximum length of what an agent asks permission for. A longer one is left to the person. */
export const PERMISSION_TARGET_MAX = 8000;
export const FOLDER_MAX = 1000;
export const INTEGER_MAX = Number.MAX_SAFE_INTEGER;
export const VALIDATION_ITEMS_MAX = 100;

export const KIB = 1024;
export const MIB = 1024 * KIB;
/** Maximum size of a request body in bytes, uncompressed. An endpoint may set another limit. */
export const BODY_BYTES_MAX = 256 * KIB;
/** Maximum size of a body that has only a few short texts, in bytes, uncompressed. */
export const SMALL_BODY_BYTES_MAX = 8 * KIB;
/** Maximum number of values and property names in a JSON body. An endpoint may set another limit. */
export const BODY_VALUES_MAX = 10_000;
/**
 * Maximum number of values and property names in a body of memory rows: enough for 200 rows with all sources and tags.
 */
export const MEMORY_BODY_VALUES_MAX = 150_000;
export const BODY_DEPTH_MAX = 64;

export const PREDICTION_MODES = ['complete_draft', 'next_prompt'] as const;
export const MESSAGE_ROLES = ['user', 'assistant', 'tool'] as const;
export const MESSAGE_ORIGINS = [
  'human',
  'agent',
  'accepted_prediction',
  'edited_prediction',
  'unknown',
] as const;
/** Possible authors of a raw row. `reported`: brought by a key that vouches for nobody's words. */
export const RAW_ORIGINS = [...MESSAGE_ORIGINS, 'reported'] as const;
/** Possible authors of an episode or a fact. `extractive`: Forecue itself, without a model. */
export const DERIVED_ORIGINS = ['human', 'agent', 'model', 'extractive'] as const;
export const ARTIFACT_KINDS = ['video', 'slides', 'other'] as const;
export const EVENT_KINDS = ['presented', 'accepted', 'edited', 'dismissed', 'submitted'] as const;
export const PLANS = ['sandbox', 'paid'] as const;

/** Maximum number of keys of an account. One page can list all of them. */
export const KEYS_MAX = 100;
/** Maximum number of passkeys of an account. */
export const PASSKEYS_MAX = 20;
/** Maximum number of programs that an account has let in. One answer lists all of them. */
export const GRANTS_MAX = 100;
/** A program that has not renewed its access for this long has to ask the person again. */
export const GRANT_UNUSED_DAYS = 90;

/** Days for which it is kept what was read of an account. */
export const ACCESS_DAYS = 400;
/** Maximum number of apps of an account. One answer lists all of them. */
export const APPS_MAX = 20;
/** SQL compares caps in millionths of a cent: this maximum in that unit fits in a bigint. */
export const CAP_CENTS_MAX = 1_000_000_000_000;
/** How long the keys before a new one may go on. */
export const APP_GRACE_S_MAX = 30 * 24 * 60 * 60;
/** Maximum number of webhooks of an account, and of an app. One answer lists all of them. */
export const WEBHOOKS_MAX = 10;
/** How long the secret before a new one may go on. */
export const WEBHOOK_GRACE_S_MAX = 7 * 24 * 60 * 60;
/** How long deliveries are kept. */
export const DELIVERY_DAYS = 7;
/** Maximum number of connections of an account, including revoked ones. One answer lists all of them. */
export const CONNECTIONS_MAX = 1000;
/** Completions below this confidence are not shown, unless their app sets another minimum. */
export const MIN_CONFIDENCE = 0.3;
/** Default minimum share of correct predictions among those that reach a suggested threshold. */
export const PRECISION_TARGET = 0.95;
/** Defaults for choosing memory. Drafts and /v1 do not use `recencyMinutes`: for them, no row is too old. */
export const CONTEXT_DEFAULTS = { recencyMinutes: 60, maxFacts: 20, maxEpisodes: 10, maxRaw: 50 } as const;
export const RECENCY_MINUTES_MAX = 7 * 24 * 60;
export const CODE_TTL_S = 120;
/** Number of exchanges with a wrong value, such as the verifier, after which a connection attempt is void. */
export const EXCHANGE_MISMATCHES_MAX = 5;
/** Minimum number of days for which ended work is kept, without its texts, for billing, conflicts and statistics. */
export const TOMBSTONE_DAYS = 35;
/** A queued prediction without callers is abandoned unless a caller re-attaches within this time. */
export const ABANDON_AFTER_MS = 5000;
/** A worker stops this long before the deadline of its work, so that the outcome is committed in time. */
export const WORKER_MARGIN_MS = 250;
