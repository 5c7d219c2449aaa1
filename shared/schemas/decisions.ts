import Type, { type Static } from 'typebox';
import { closedObject, nullable, nullableOneOf, oneOf, partialOf } from './build.ts';
import {
  Count,
  Id,
  NullableText,
  NullableTimestamp,
  pageLimit,
  Share,
  TimeOrDate,
  Timestamp,
} from './common.ts';
import { PERMISSION_ACTIONS } from './permissions.ts';

/** Maximum length of a text in a list of decisions. The whole of a reply is in `GET /api/predictions/<id>/`. */
export const DECISION_TEXT_MAX = 1000;
const DECISIONS_PAGE_MAX = 100;

/** What was decided for the person: a reply that was `auto`, or a permission that was given or denied. */
export const Decision = closedObject({
  /** Id of the prediction, or of the answer to a request for permission. */
  id: Id,
  kind: oneOf(['reply', 'permission']),
  decided_at: Timestamp,
  agent: Type.String(),
  session_id: NullableText,
  project: NullableText,
  /** The agent's tool and what it does; null for a reply. */
  tool: NullableText,
  action: nullableOneOf(PERMISSION_ACTIONS),
  /** The end of the question, or the beginning of the command, the paths, the address or the input. */
  asked: Type.String(),
  /** The reply, or `allow` or `deny`. */
  answer: Type.String(),
  confidence: Share,
  /** The bar of a reply; null for a permission. */
  threshold: nullable(Share),
  /** The bar of a permission: approvals that were needed; null for a reply. */
  required: nullable(Count),
  /** How many of the person's replies to, or decisions on, the like say the same. */
  evidence: closedObject({ agreeing: Count, similar: Count }),
  /** Key with which it was asked; null for a log-in. */
  key_id: nullable(Id),
  /** When the person objected to it. */
  objected_at: NullableTimestamp,
});
export type Decision = Static<typeof Decision>;

export const DecisionListQuery = Type.Object({
  limit: pageLimit(DECISIONS_PAGE_MAX, 50),
  cursor: Type.Optional(Type.String({ maxLength: 100 })),
  since: Type.Optional(TimeOrDate),
  until: Type.Optional(TimeOrDate),
});

/** The latest first. */
export const DecisionList = closedObject({
  results: Type.Array(Decision),
  next: NullableText,
  /** Number of decisions in the last 24 hours. */
  latest_day: Count,
});
export type DecisionList = Static<typeof DecisionList>;

/** Largest share of what would be automatic that may be checked. */
const CHECK_SHARE_MAX = 0.2;

const settings = {
  /** False: nothing is decided for the person. Every reply is `escalated`, and every permission is asked for. */
  automatic: Type.Boolean(),
  /** Permissions that the person always refused are denied. Without it there is no No but theirs. */
  deny: Type.Boolean(),
  /**
   * Share of what would be automatic that the person is asked all the same, without being shown the answer. From these
   * `GET /api/activity/` estimates how often it is right.
   */
  check_share: Type.Number({ minimum: 0, maximum: CHECK_SHARE_MAX }),
  /** A mail a day says how much was decided, where the server sends mail. */
  daily_note: Type.Boolean(),
};
const EscalationMail = oneOf(['off', 'unconfirmed', 'on']);
export type EscalationMail = Static<typeof EscalationMail>;
export const DecisionSettings = closedObject({
  ...settings,
  /** State of the mails about questions that wait. `unconfirmed` becomes `on` when the mailed link is opened. */
  escalation_mail: EscalationMail,
});
export type DecisionSettings = Static<typeof DecisionSettings>;
export const DecisionSettingsChange = closedObject({
  ...partialOf(closedObject(settings)).properties,
  /** `on` mails a link that confirms the address, unless it is on. */
  escalation_mail: Type.Optional(oneOf(['off', 'on'])),
});
export type DecisionSettingsChange = Static<typeof DecisionSettingsChange>;
