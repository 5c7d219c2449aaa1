import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf, text, withDefault } from './build.ts';
import { Identifier, Name, withProject } from './common.ts';
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

const Draft = closedObject({
  text: text(TEXT_MAX),
  revision: Type.Integer({ minimum: 0, maximum: INTEGER_MAX }),
});

export const Message = closedObject({
  role: oneOf(MESSAGE_ROLES),
  content: text(TEXT_MAX),
  origin: withDefault(oneOf(MESSAGE_ORIGINS), 'unknown'),
});
export type Message = Static<typeof Message>;

export const Artifact = closedObject({
  kind: oneOf(ARTIFACT_KINDS),
  id: Name,
  revision: Name,
  selection: withDefault(text(SELECTION_MAX), ''),
  summary: withDefault(text(TEXT_MAX), ''),
});
export type Artifact = Static<typeof Artifact>;

export const PredictionRequest = closedObject({
  request_id: Identifier,
  user_id: Name,
  session_id: Identifier,
  mode: oneOf(PREDICTION_MODES),
  draft: Draft,
  context_revision: Name,
  artifact: withDefault(nullable(Artifact), null),
  connection_id: withDefault(nullable(Identifier), null),
  language: withDefault(text(40, 2), 'auto'),
  messages: withDefault(Type.Array(Message, { maxItems: MESSAGES_MAX }), []),
  user_preferences: withDefault(text(PREFERENCES_MAX), ''),
});
export type PredictionRequest = Static<typeof PredictionRequest>;

export const PredictionInput = withProject(PredictionRequest);
export type PredictionInput = Static<typeof PredictionInput>;

export const PredictionResponse = closedObject({
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
  usage: closedObject({ prediction_units: Type.Integer({ minimum: 0, maximum: 1 }) }),
});
export type PredictionResponse = Static<typeof PredictionResponse>;

export const SubjectRequest = closedObject({ user_id: Name });
export type SubjectRequest = Static<typeof SubjectRequest>;

export const CancelResponse = closedObject({
  status: oneOf(['cancelled', 'suggested', 'abstained', 'failed']),
  prediction_units: Type.Integer({ minimum: 0, maximum: 1 }),
});
export type CancelResponse = Static<typeof CancelResponse>;

export const PredictionEventRequest = closedObject({
  event_id: Identifier,
  request_id: Identifier,
  user_id: Name,
  kind: oneOf(EVENT_KINDS),
});
export type PredictionEventRequest = Static<typeof PredictionEventRequest>;

export const PredictionEventResponse = closedObject({ status: oneOf(['recorded']) });
