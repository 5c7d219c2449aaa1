import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf, text } from './build.ts';
import { Count, Id, Name, NullableText, Share, Timestamp } from './common.ts';
import {
  CONTENT_MAX,
  EpisodeResponse,
  FactResponse,
  MemorySource,
  ProfileResponse,
  RawMemoryResponse,
  TIERS,
} from './memory.ts';
import { PERMISSION } from './permissions.ts';
import { ReplyDetail } from './replies.ts';

const { raw_ids: _rows, ...episodeFields } = EpisodeResponse.properties;
const { episode_ids: _episodes, ...factFields } = FactResponse.properties;
/** Who brought the row: `login`, `import` or the id of a key. Null for what Forecue derived. */
const witness = nullable(Name);

/** Lines of an account's export that an import stores again, by their `type`. Events are of the types of recording. */
export const EXPORTED = {
  /** What recording does not know of an event of the session; the line comes before that of the event. */
  mark: closedObject({
    event_id: Name,
    /** The person deleted its row in memory. */
    forgotten: Type.Boolean(),
    /** Nobody vouched for it. */
    reported: Type.Boolean(),
  }),
  profile: ProfileResponse,
  raw: closedObject({ ...RawMemoryResponse.properties, content: text(CONTENT_MAX), witness }),
  episode: closedObject({ ...episodeFields, title: text(CONTENT_MAX), summary: text(CONTENT_MAX), witness }),
  fact: closedObject({
    ...factFields,
    text: text(CONTENT_MAX),
    /** The later fact that will replace it at `valid_to`. */
    ended_by: nullable(Id),
    witness,
  }),
  link: closedObject({
    from: closedObject({ tier: oneOf(TIERS), id: Id }),
    /** `forgotten` if the person deleted the fact that quoted the words. */
    relation: oneOf(['derived_from', 'forgotten']),
    to: MemorySource,
  }),
  prediction: ReplyDetail,
  permission: closedObject({
    ...PERMISSION,
    id: Id,
    session_id: NullableText,
    mode: Name,
    decision: oneOf(['allow', 'ask']),
    confidence: Share,
    allowed: Count,
    refused: Count,
    required: nullable(Count),
    shadow: Type.Boolean(),
    blind: Type.Boolean(),
    key_id: nullable(Id),
    objected_at: nullable(Timestamp),
    created_at: Timestamp,
  }),
};
export type ExportedType = keyof typeof EXPORTED;
export type Exported<Type extends ExportedType> = Static<(typeof EXPORTED)[Type]>;
