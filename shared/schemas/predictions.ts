import Type, { type Static } from 'typebox';
import { closed, defaulted, nullable, oneOf, text } from './build.ts';
import { Identifier, Name } from './common.ts';
import {
  ARTIFACT_KINDS,
  EVENT_KINDS,
  INTEGER_MAX,
  MESSAGE_ORIGINS,
  MESSAGE_ROLES,
  MESSAGES_MAX,
  PREDICTION_MODES,
  PREFERENCES_MAX,
  SELECTION_MAX,
  TEXT_MAX,
} from './limits.ts';

const Draft = closed({
  text: text(TEXT_MAX),
  revision: Type.Integer({ minimum: 0, maximum: INTEGER_MAX }),
});

export const Message = closed({
  role: oneOf(MESSAGE_ROLES),
  content: text(TEXT_MAX),
  origin: defaulted(oneOf(MESSAGE_ORIGINS), 'unknown'),
});
export type Message = Static<typeof Message>;

export const Artifact = closed({
  kind: oneOf(ARTIFACT_KINDS),
  id: Name,
  revision: Name,
  selection: defaulted(text(SELECTION_MAX), ''),
  summary: defaulted(text(TEXT_MAX), ''),
});
export type Artifact = Static<typeof Artifact>;

export const PredictionRequest = closed({
  request_id: Identifier,
  user_id: Name,
  session_id: Identifier,
  mode: oneOf(PREDICTION_MODES),
  draft: Draft,
  context_revision: Name,
  artifact: defaulted(nullable(Artifact), null),
  connection_id: defaulted(nullable(Identifier), null),
  language: defaulted(text(40, 2), 'auto'),
  messages: defaulted(Type.Array(Message, { maxItems: MESSAGES_MAX }), []),
  user_preferences: defaulted(text(PREFERENCES_MAX), ''),
});
export type PredictionRequest = Static<typeof PredictionRequest>;

export const PredictionResponse = closed({
  request_id: Type.String(),
  prediction_id: Type.String(),
  session_id: Type.String(),
  connection_id: nullable(Type.String()),
  draft_revision: Type.Integer(),
  context_revision: Type.String(),
  profile_revision: Type.String(),
  grant_revision: Type.Integer(),
  status: oneOf(['suggested', 'abstained']),
  completion: Type.String(),
  expires_at: Type.Integer(),
  context_truncated: Type.Boolean(),
  usage: closed({ prediction_units: Type.Integer({ minimum: 0, maximum: 1 }) }),
});
export type PredictionResponse = Static<typeof PredictionResponse>;

export const SubjectRequest = closed({ user_id: Name });
export type SubjectRequest = Static<typeof SubjectRequest>;

export const CancelResponse = closed({
  status: oneOf(['cancelled', 'suggested', 'abstained', 'failed']),
  prediction_units: Type.Integer({ minimum: 0, maximum: 1 }),
});
export type CancelResponse = Static<typeof CancelResponse>;

export const PredictionEventRequest = closed({
  event_id: Identifier,
  request_id: Identifier,
  user_id: Name,
  kind: oneOf(EVENT_KINDS),
});
export type PredictionEventRequest = Static<typeof PredictionEventRequest>;

export const PredictionEventResponse = closed({ status: oneOf(['recorded']) });
