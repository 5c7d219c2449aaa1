import Type, { type Static } from 'typebox';
import { closed, defaulted, nullable, text } from './build.ts';
import { Timestamp } from './common.ts';
import { CONTEXT_DEFAULTS } from './limits.ts';
import {
  EpisodeResponse,
  FactResponse,
  ProfileResponse,
  RawMemoryResponse,
  TAG_MAX,
  TAGS_MAX,
} from './memory.ts';

export const QUERY_MAX = 2000;
const RECENCY_MAX = 7 * 24 * 60;
const Count = Type.Integer({ minimum: 0 });
const between = (minimum: number, maximum: number, value: number) =>
  defaulted(Type.Integer({ minimum, maximum }), value);

/** Budget of a bundle. */
export const ContextRequest = closed({
  /** Subject of the rows, such as a question; the goal, when there is none. */
  query: Type.Optional(text(QUERY_MAX)),
  /** Facts have it in their text. */
  goal: Type.Optional(text(QUERY_MAX)),
  /** Facts have one of them; any fact, when there is none. */
  tags: Type.Optional(Type.Array(text(TAG_MAX, 1), { maxItems: TAGS_MAX })),
  /** Null: ever. */
  recency_minutes: defaulted(
    nullable(Type.Integer({ minimum: 1, maximum: RECENCY_MAX })),
    CONTEXT_DEFAULTS.recencyMinutes,
  ),
  max_facts: between(1, 100, CONTEXT_DEFAULTS.maxFacts),
  max_episodes: between(1, 50, CONTEXT_DEFAULTS.maxEpisodes),
  max_raw: between(1, 500, CONTEXT_DEFAULTS.maxRaw),
});
export type ContextRequest = Static<typeof ContextRequest>;

const tier = closed({ matched: Count, returned: Count });
const perTier = <T extends typeof tier | ReturnType<typeof Type.Boolean>>(schema: T) =>
  closed({ facts: schema, episodes: schema, raw: schema });

/** Origin of a bundle, and what it lacks. */
export const ContextMeta = closed({
  /** Revision of the account's memory: counts its changes. */
  revision: Count,
  generated_at: Timestamp,
  window: closed({ since: nullable(Timestamp), until: Timestamp, recency_minutes: nullable(Type.Integer()) }),
  filters: closed({ goal: nullable(Type.String()), tags: Type.Array(Type.String()) }),
  /** `matched` is counted up to 1000. */
  counts: perTier(tier),
  /** True if reading the rows took too long, so that there are none, and nothing is counted. */
  timed_out: Type.Boolean(),
  /** True if more rows matched than fit, or reading them took too long. */
  truncated: perTier(Type.Boolean()),
  /** Rows that are never shown, each counted up to 1000: those of the account, or in the window. */
  excluded: closed({
    superseded: Count,
    stale: Count,
    expired: Count,
    not_yet_valid: Count,
    predicted_origin: Count,
  }),
  /** Tokens of all texts, by the estimate of the context budget. */
  token_estimate: Count,
  ranking: Type.String(),
  /** Rows that promotion has not looked at yet, each counted up to 1000. */
  promotion_backlog: closed({ raw: Count, episodes: Count }),
});
export type ContextMeta = Static<typeof ContextMeta>;

export const ContextResponse = closed({
  profile: Type.Union([ProfileResponse, Type.Null()]),
  facts: Type.Array(FactResponse),
  episodes: Type.Array(EpisodeResponse),
  raw: Type.Array(RawMemoryResponse),
  meta: ContextMeta,
});
