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

const GOAL_MAX = 2000;
const Count = Type.Integer({ minimum: 0 });
const between = (minimum: number, maximum: number, value: number) =>
  defaulted(Type.Integer({ minimum, maximum }), value);

/** How much memory a bundle has at most. */
export const ContextRequest = closed({
  /** Facts have it in their text. It also decides what is relevant. */
  goal: Type.Optional(text(GOAL_MAX)),
  /** Facts have one of them; any fact, when there is none. */
  tags: Type.Optional(Type.Array(text(TAG_MAX, 1), { maxItems: TAGS_MAX })),
  recency_minutes: between(1, 10_080, CONTEXT_DEFAULTS.recencyMinutes),
  max_facts: between(1, 100, CONTEXT_DEFAULTS.maxFacts),
  max_episodes: between(1, 50, CONTEXT_DEFAULTS.maxEpisodes),
  max_raw: between(1, 500, CONTEXT_DEFAULTS.maxRaw),
});
export type ContextRequest = Static<typeof ContextRequest>;

const tier = closed({ matched: Count, returned: Count });
const perTier = <T extends typeof tier | ReturnType<typeof Type.Boolean>>(schema: T) =>
  closed({ facts: schema, episodes: schema, raw: schema });

/** What a bundle was made of, and what it lacks. */
export const ContextMeta = closed({
  /** Of the account's memory: counts its changes. */
  revision: Count,
  generated_at: Timestamp,
  window: closed({ since: Timestamp, until: Timestamp, recency_minutes: Type.Integer() }),
  filters: closed({ goal: nullable(Type.String()), tags: Type.Array(Type.String()) }),
  /** `matched` is counted up to 1000. */
  counts: perTier(tier),
  /** Whether reading the rows took too long, so that there are none, and nothing is counted. */
  timed_out: Type.Boolean(),
  /** Whether more rows matched than fit, or reading them took too long. */
  truncated: perTier(Type.Boolean()),
  /** Rows that are never shown, each counted up to 1000: those of the account, or in the window. */
  excluded: closed({
    superseded: Count,
    stale: Count,
    expired: Count,
    not_yet_valid: Count,
    predicted_origin: Count,
  }),
  /** Of all texts, by the estimate of the context budget. */
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
