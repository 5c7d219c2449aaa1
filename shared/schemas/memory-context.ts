import Type, { type Static } from 'typebox';
import { closedObject, nullable, text, withDefault } from './build.ts';
import { Count, Timestamp } from './common.ts';
import { CONTEXT_DEFAULTS, RECENCY_MINUTES_MAX } from './limits.ts';
import {
  EpisodeResponse,
  FactResponse,
  ProfileResponse,
  RawMemoryResponse,
  TAG_LENGTH_MAX,
  TAGS_MAX,
} from './memory.ts';

export const QUERY_MAX = 2000;
const boundedInteger = (minimum: number, maximum: number, value: number) =>
  withDefault(Type.Integer({ minimum, maximum }), value);

export const ContextRequest = closedObject({
  /** Question or topic that the rows should be about. By default, the same as `goal`. */
  query: Type.Optional(text(QUERY_MAX)),
  /** Text that every returned fact contains. */
  goal: Type.Optional(text(QUERY_MAX)),
  /** Every returned fact has at least one of these tags. An empty list does not filter. */
  tags: Type.Optional(Type.Array(text(TAG_LENGTH_MAX, 1), { maxItems: TAGS_MAX })),
  /** Maximum age of the episodes and raw rows, in minutes; null for no limit. */
  recency_minutes: withDefault(
    nullable(Type.Integer({ minimum: 1, maximum: RECENCY_MINUTES_MAX })),
    CONTEXT_DEFAULTS.recencyMinutes,
  ),
  max_facts: boundedInteger(1, 100, CONTEXT_DEFAULTS.maxFacts),
  max_episodes: boundedInteger(1, 50, CONTEXT_DEFAULTS.maxEpisodes),
  max_raw: boundedInteger(1, 500, CONTEXT_DEFAULTS.maxRaw),
});
export type ContextRequest = Static<typeof ContextRequest>;

const tierCounts = closedObject({ matched: Count, returned: Count });
const perTier = <T extends typeof tierCounts | ReturnType<typeof Type.Boolean>>(schema: T) =>
  closedObject({ facts: schema, episodes: schema, raw: schema });

/** How the rows were chosen, and how many were left out. */
export const ContextMeta = closedObject({
  /** Number of changes to the account's memory so far. */
  revision: Count,
  generated_at: Timestamp,
  window: closedObject({
    since: nullable(Timestamp),
    until: Timestamp,
    recency_minutes: nullable(Type.Integer()),
  }),
  filters: closedObject({ goal: nullable(Type.String()), tags: Type.Array(Type.String()) }),
  /** `matched` stops counting at 1000. */
  counts: perTier(tierCounts),
  /** True if reading the rows took too long. Then the bundle has no rows, and nothing is counted. */
  timed_out: Type.Boolean(),
  /** True if more rows matched than were returned, or reading them took too long. */
  truncated: perTier(Type.Boolean()),
  /**
   * Numbers of rows left out, by reason. Facts are counted in the whole account, episodes and raw rows in the window,
   * each up to 1000. `stale` counts facts and episodes together.
   */
  excluded: closedObject({
    superseded: Count,
    stale: Count,
    expired: Count,
    not_yet_valid: Count,
    predicted_origin: Count,
  }),
  token_estimate: Count,
  ranking: Type.String(),
  /** Number of rows that promotion has not processed yet, each tier counted up to 1000. */
  promotion_backlog: closedObject({ raw: Count, episodes: Count }),
});
export type ContextMeta = Static<typeof ContextMeta>;

export const ContextResponse = closedObject({
  profile: Type.Union([ProfileResponse, Type.Null()]),
  facts: Type.Array(FactResponse),
  episodes: Type.Array(EpisodeResponse),
  raw: Type.Array(RawMemoryResponse),
  meta: ContextMeta,
});
