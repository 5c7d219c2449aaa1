import Type, { type Static, type TObject } from 'typebox';
import { closedObject, nullable, nullableOneOf, oneOf, oneOrMany, partialOf, text } from './build.ts';
import {
  Count,
  Id,
  Name,
  NullableText,
  NullableTimestamp,
  pageLimit,
  Share,
  TimeOrDate,
  Timestamp,
} from './common.ts';
import { DERIVED_ORIGINS, MESSAGE_ORIGINS, RAW_ORIGINS, SOURCE_DETAIL_MAX } from './limits.ts';

const POSTED_ROWS_MAX = 200;
const SOURCES_MAX = 500;
export const TAGS_MAX = 50;
export const TAG_LENGTH_MAX = 80;
export const CONTENT_MAX = 8000;
const FACT_LENGTH_MAX = 2000;

export const RAW_KINDS = ['prompt', 'reply', 'message', 'note', 'other'] as const;
export const RAW_ROLES = ['human', 'agent', 'tool', 'system'] as const;
const EPISODE_STATES = ['draft', 'final'] as const;
export const TIERS = ['raw', 'episode', 'fact'] as const;
/** Origins that a client may give a posted episode or fact. Only Forecue sets the others. */
const CLIENT_ORIGINS = ['human', 'agent'] as const;

const Ids = Type.Array(Id, { maxItems: SOURCES_MAX });
const Tag = text(TAG_LENGTH_MAX, 1);
const Tags = Type.Array(Tag, { maxItems: TAGS_MAX });
const Json = Type.Object({}, { additionalProperties: true });
const ResponseJson = Type.Record(Type.String(), Type.Unknown());

const pageOf = <T extends TObject>(row: T) =>
  closedObject({ results: Type.Array(row), next: nullable(Type.String()) });
/** One row if one was posted; a list if a list was posted. */
const postResponseOf = <T extends TObject>(row: T) => Type.Union([row, Type.Array(row)]);

export const RawMemoryRequest = closedObject({
  content: text(CONTENT_MAX, 1),
  kind: Type.Optional(oneOf(RAW_KINDS)),
  role: Type.Optional(nullableOneOf(RAW_ROLES)),
  origin: Type.Optional(oneOf(MESSAGE_ORIGINS)),
  agent: Type.Optional(nullable(Name)),
  session_id: Type.Optional(nullable(Name)),
  source: Type.Optional(Name),
  /** By default, the time of the request. */
  occurred_at: Type.Optional(Timestamp),
  /** By default, the project of the recorded session `session_id`. */
  project: Type.Optional(nullable(text(SOURCE_DETAIL_MAX, 1))),
  tags: Type.Optional(Tags),
  metadata: Type.Optional(Json),
});
export type RawMemoryRequest = Static<typeof RawMemoryRequest>;
export const RawMemoryRequests = oneOrMany(RawMemoryRequest, POSTED_ROWS_MAX);

export const RawMemoryResponse = closedObject({
  id: Id,
  content: Type.String(),
  kind: oneOf(RAW_KINDS),
  role: nullableOneOf(RAW_ROLES),
  origin: oneOf(RAW_ORIGINS),
  agent: NullableText,
  session_id: NullableText,
  source: Type.String(),
  event_id: NullableText,
  occurred_at: Timestamp,
  /** The last name in the path or repository that the row is about, in lower case. */
  project: NullableText,
  tags: Tags,
  metadata: ResponseJson,
  promoted_at: NullableTimestamp,
  created_at: Timestamp,
});
export type RawMemoryResponse = Static<typeof RawMemoryResponse>;
export const RawMemoryPage = pageOf(RawMemoryResponse);
export const RawMemoryPostResponse = postResponseOf(RawMemoryResponse);

const episodeFields = {
  title: text(200, 1),
  summary: text(CONTENT_MAX, 1),
  started_at: Timestamp,
  ended_at: Timestamp,
};
const episodeOptions = {
  status: Type.Optional(oneOf(EPISODE_STATES)),
  raw_ids: Type.Optional(Ids),
  project: Type.Optional(nullable(text(SOURCE_DETAIL_MAX, 1))),
  tags: Type.Optional(Tags),
  salience: Type.Optional(Share),
  model: Type.Optional(nullable(Name)),
};
export const EpisodeRequest = closedObject({
  ...episodeFields,
  ...episodeOptions,
  origin: Type.Optional(oneOf(CLIENT_ORIGINS)),
});
export type EpisodeRequest = Static<typeof EpisodeRequest>;
export const EpisodeRequests = oneOrMany(EpisodeRequest, POSTED_ROWS_MAX);
export const EpisodeChange = partialOf(closedObject({ ...episodeFields, ...episodeOptions }));
export type EpisodeChange = Static<typeof EpisodeChange>;

export const EpisodeResponse = closedObject({
  id: Id,
  /** Empty while the episode is stale; so is `summary`. */
  title: Type.String(),
  summary: Type.String(),
  started_at: Timestamp,
  ended_at: Timestamp,
  status: oneOf(EPISODE_STATES),
  origin: oneOf(DERIVED_ORIGINS),
  raw_ids: Type.Array(Id),
  project: NullableText,
  tags: Tags,
  salience: Share,
  model: NullableText,
  promoted_at: NullableTimestamp,
  stale_at: NullableTimestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type EpisodeResponse = Static<typeof EpisodeResponse>;
export const EpisodePage = pageOf(EpisodeResponse);
export const EpisodePostResponse = postResponseOf(EpisodeResponse);

const factOptions = {
  kind: Type.Optional(nullable(Tag)),
  tags: Type.Optional(Tags),
  confidence: Type.Optional(Share),
  episode_ids: Type.Optional(Ids),
  valid_from: Type.Optional(NullableTimestamp),
  valid_to: Type.Optional(NullableTimestamp),
  superseded_by: Type.Optional(nullable(Id)),
  pinned: Type.Optional(Type.Boolean()),
  model: Type.Optional(nullable(Name)),
};
export const FactRequest = closedObject({
  text: text(FACT_LENGTH_MAX, 1),
  ...factOptions,
  origin: Type.Optional(oneOf(CLIENT_ORIGINS)),
});
export type FactRequest = Static<typeof FactRequest>;
export const FactRequests = oneOrMany(FactRequest, POSTED_ROWS_MAX);
export const FactChange = partialOf(closedObject({ text: text(FACT_LENGTH_MAX, 1), ...factOptions }));
export type FactChange = Static<typeof FactChange>;

const factFields = {
  id: Id,
  /** Empty while the fact is stale. */
  text: Type.String(),
  kind: NullableText,
  /** Topic with one value at a time, such as `home.city`. Only Forecue sets it. */
  slot: NullableText,
  origin: oneOf(DERIVED_ORIGINS),
  tags: Tags,
  confidence: Share,
  episode_ids: Type.Array(Id),
  /** The project of all of its episodes; null if they have several or none. */
  project: NullableText,
  valid_from: NullableTimestamp,
  valid_to: NullableTimestamp,
  recorded_at: Timestamp,
  invalidated_at: NullableTimestamp,
  superseded_by: nullable(Id),
  revision_of: nullable(Id),
  stale_at: NullableTimestamp,
  pinned: Type.Boolean(),
  model: NullableText,
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const FactResponse = closedObject(factFields);
export type FactResponse = Static<typeof FactResponse>;
export const FactPage = pageOf(FactResponse);
export const FactPostResponse = postResponseOf(FactResponse);

/** `quote` is the words in the source that support the derived row. */
export const MemorySource = closedObject({ tier: oneOf(TIERS), id: Id, quote: NullableText });
export type MemorySource = Static<typeof MemorySource>;
export const FactDetail = closedObject({ ...factFields, sources: Type.Array(MemorySource) });

const ProfileSummary = text(CONTENT_MAX);
export const ProfileRequest = closedObject({
  data: Type.Optional(Json),
  summary: Type.Optional(ProfileSummary),
});
export type ProfileRequest = Static<typeof ProfileRequest>;
export const ProfileResponse = closedObject({
  data: ResponseJson,
  summary: Type.String(),
  revision: Count,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type ProfileResponse = Static<typeof ProfileResponse>;

/** The id of the deleted row, and how many other rows the deletion changed or deleted. */
export const DeletionReceipt = closedObject({
  id: Id,
  event_deleted: Type.Boolean(),
  episodes: closedObject({ deleted: Count, stale: Count }),
  facts: closedObject({ deleted: Count, stale: Count, restored: Count }),
});
export type DeletionReceipt = Static<typeof DeletionReceipt>;

const listFilters = {
  limit: pageLimit(200, 50),
  /** The `next` of the previous page. */
  cursor: Type.Optional(Type.String({ pattern: '^[\\w-]{1,200}$' })),
  since: Type.Optional(TimeOrDate),
  until: Type.Optional(TimeOrDate),
  tag: Type.Optional(Tag),
  /** Only rows of this project: a name, a path or the address of a repository. */
  project: Type.Optional(text(SOURCE_DETAIL_MAX, 1)),
  q: Type.Optional(text(200, 1)),
};
export const ListQuery = Type.Object({ ...listFilters, session_id: Type.Optional(Name) });
export type ListQuery = Static<typeof ListQuery>;
export const FactListQuery = Type.Object({
  ...listFilters,
  revision_of: Type.Optional(Id),
  superseded_by: Type.Optional(Id),
  pinned: Type.Optional(oneOf(['true', 'false'])),
});
export const RawDeletionQuery = Type.Object({ purge_event: Type.Optional(oneOf(['true', 'false'])) });
export const MemoryStatsQuery = Type.Object({ since: Type.Optional(TimeOrDate) });

const TierStats = closedObject({
  count: Count,
  last_updated_at: NullableTimestamp,
  /** Number of rows created or updated since `since`; absent if the request has no `since`. */
  count_since: Type.Optional(Count),
});
export const MemoryStats = closedObject({
  profile: TierStats,
  facts: TierStats,
  episodes: TierStats,
  raw: TierStats,
});
export type MemoryStats = Static<typeof MemoryStats>;
