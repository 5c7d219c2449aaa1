/* Limits and enums of the interface that more than one file needs. */

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
export const COMPLETION_MAX = 2000;
export const EVENT_BATCH_MAX = 1000;
export const EVENT_TEXT_MAX = 64_000;
export const SOURCE_DETAIL_MAX = 2000;
export const INTEGER_MAX = Number.MAX_SAFE_INTEGER;
export const VALIDATION_ITEMS_MAX = 100;

export const KIB = 1024;
export const MIB = 1024 * KIB;
/** Uncompressed bytes, unless the endpoint sets another limit. */
export const BODY_LIMIT = 256 * KIB;
/** Uncompressed bytes of a body with only a few short texts. */
export const SMALL_BODY_LIMIT = 8 * KIB;
/** Values and property names together, unless the endpoint sets another limit. */
export const BODY_VALUES_MAX = 10_000;
/** Enough for 200 memory rows with all their sources and tags. */
export const MEMORY_BODY_VALUES_MAX = 150_000;
export const BODY_DEPTH = 64;

export const PREDICTION_MODES = ['complete_draft', 'next_prompt'] as const;
export const MESSAGE_ROLES = ['user', 'assistant', 'tool'] as const;
export const MESSAGE_ORIGINS = [
  'human',
  'agent',
  'accepted_prediction',
  'edited_prediction',
  'unknown',
] as const;
/** Authors of a memory row that is not raw. Forecue makes `extractive` rows itself, without a model. */
export const DERIVED_ORIGINS = ['human', 'agent', 'model', 'extractive'] as const;
export const ARTIFACT_KINDS = ['video', 'slides', 'other'] as const;
export const EVENT_KINDS = ['presented', 'accepted', 'edited', 'dismissed', 'submitted'] as const;
export const PLANS = ['sandbox', 'paid'] as const;

/** Maximum number of keys of an account, and on a page of keys. */
export const KEYS_MAX = 100;
/** Maximum number of connections of an account, including revoked ones. One answer lists all of them. */
export const CONNECTIONS_MAX = 1000;
/** Minimum confidence in a completion that is shown, unless an app sets another minimum. */
export const MIN_CONFIDENCE = 0.3;
/** Default share of correct predictions among those that reach a suggested threshold. */
export const PRECISION_TARGET = 0.95;
/** Drafts and /v1 use all but `recencyMinutes`: for them, no row is too old. */
export const CONTEXT_DEFAULTS = { recencyMinutes: 60, maxFacts: 20, maxEpisodes: 10, maxRaw: 50 } as const;
/** Minutes. */
export const RECENCY_MAX = 7 * 24 * 60;
export const CODE_TTL_S = 120;
/** Number of wrong exchanges after which a connection attempt is void. */
export const MISMATCHES_MAX = 5;
/** Minimum number of days for which ended work is kept, without its texts, for billing, conflicts and statistics. */
export const TOMBSTONE_DAYS = 35;
/** Time for which a queued prediction without callers waits for a caller to re-attach. */
export const ABANDON_AFTER_MS = 5000;
/** Time before the deadline of work at which a worker stops, so that its outcome is committed in time. */
export const WORKER_MARGIN_MS = 250;
