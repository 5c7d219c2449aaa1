/** Every number and closed list of the interface that more than one place needs. */
export const IDENTIFIER_PATTERN = '^[A-Za-z0-9._:-]+$';
export const IDENTIFIER_MAX = 80;
export const NAME_MAX = 200;
export const EMAIL_MAX = 254;
export const PASSWORD_MIN = 10;
export const PASSWORD_MAX = 200;
/** The canonical form (RFC 9562, 4). */
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
/** Bytes of a body, unpacked, unless its endpoint sets another limit. */
export const BODY_LIMIT = 256 * KIB;
/** The same, where a few short texts are all that a body may have. */
export const SMALL_BODY_LIMIT = 8 * KIB;
/** Values and names of properties in a body, together, unless its endpoint sets another limit. */
export const BODY_VALUES = 10_000;
/** Size of 200 rows of memory, each with all its sources and tags. */
export const MEMORY_BODY_VALUES = 150_000;
/** Depth to which the arrays and objects of a body are nested. */
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
/** Author of a row of memory that is not raw: `extractive` is ours, without a model. */
export const DERIVED_ORIGINS = ['human', 'agent', 'model', 'extractive'] as const;
export const ARTIFACT_KINDS = ['video', 'slides', 'other'] as const;
export const EVENT_KINDS = ['presented', 'accepted', 'edited', 'dismissed', 'submitted'] as const;
export const PLANS = ['sandbox', 'paid'] as const;

/** Most keys of an account, and of a page of them. */
export const KEYS_MAX = 100;
/** Most connections of an account, revoked ones included; all are listed in one answer. */
export const CONNECTIONS_MAX = 1000;
/** Least confidence of a completion that is shown, unless an app sets another. */
export const MIN_CONFIDENCE = 0.3;
/** Share of predictions that are right from a suggested threshold on. */
export const PRECISION_TARGET = 0.95;
/** Budget of a bundle: the most, the default, and that of predictions. */
export const CONTEXT_DEFAULTS = { recencyMinutes: 60, maxFacts: 20, maxEpisodes: 10, maxRaw: 50 } as const;
/** Lifetime of the code of an approved connection attempt. */
export const CODE_TTL_S = 120;
/** Number of wrong exchanges that burn an attempt. */
export const MISMATCHES_MAX = 5;
/** Time for which billing, conflicts and statistics need a row after the recovery window. */
export const TOMBSTONE_DAYS = 35;
/** Time for which a queued prediction whose callers are all gone waits for one to re-attach. */
export const ABANDON_AFTER_MS = 5000;
/** Time before the caller's deadline at which a worker stops, so that its outcome is committed in time. */
export const WORKER_MARGIN_MS = 250;
