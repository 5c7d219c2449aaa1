import Type, { type Static, type TProperties } from 'typebox';
import { closedObject, nullable, oneOf, text } from './build.ts';
import { Name, pageLimit, Timestamp } from './common.ts';
import { EVENT_BATCH_MAX, EVENT_TEXT_MAX, NAME_MAX, SOURCE_DETAIL_MAX } from './limits.ts';
import { PERMISSION } from './permissions.ts';

/** A posted batch. Each event is checked on its own, against the schema of its type. */
export const RecordingBatch = Type.Array(Type.Unknown(), { minItems: 1, maxItems: EVENT_BATCH_MAX });

/** Unknown properties are kept. */
const eventSchema = <P extends TProperties>(properties: P) =>
  Type.Object(
    {
      id: Name,
      session_id: Name,
      occurred_at: Timestamp,
      source: Name,
      source_detail: Type.Optional(text(SOURCE_DETAIL_MAX)),
      /** What the session is about. By default, it is the last name in a `source_detail` that is a path or a repository. */
      project: Type.Optional(text(SOURCE_DETAIL_MAX, 1)),
      ...properties,
    },
    { additionalProperties: true },
  );

const EventText = text(EVENT_TEXT_MAX);

export const EVENTS = {
  'session.started': eventSchema({ type: oneOf(['session.started']) }),
  'session.stopped': eventSchema({ type: oneOf(['session.stopped']) }),
  'agent.prompt': eventSchema({ type: oneOf(['agent.prompt']), agent: Name, prompt: EventText }),
  'agent.message': eventSchema({ type: oneOf(['agent.message']), agent: Name, text: EventText }),
  'user.reply': eventSchema({
    type: oneOf(['user.reply']),
    agent: Name,
    reply: EventText,
    /** Id of the `agent.prompt` that the reply answers. The prompt may arrive later. */
    in_reply_to: Type.Optional(Name),
  }),
  'user.message': eventSchema({ type: oneOf(['user.message']), text: EventText }),
  note: eventSchema({ type: oneOf(['note']), text: EventText }),
  /** The person's own decision: not what a rule, a mode, a hook or a program decided. */
  'agent.permission': eventSchema({
    type: oneOf(['agent.permission']),
    ...PERMISSION,
    outcome: oneOf(['allowed', 'refused']),
  }),
};

export const CUSTOM_PREFIX = 'custom.';

export const CustomEvent = eventSchema({
  type: text(NAME_MAX, CUSTOM_PREFIX.length + 1),
  payload: Type.Object({}, { additionalProperties: true }),
});

export const RecordingEvent = Type.Union([...Object.values(EVENTS), CustomEvent]);

/** Schema for an event of missing or unknown type. Always fails, with an error that lists the known types. */
export const UnknownEvent = eventSchema({ type: oneOf([...Object.keys(EVENTS), `${CUSTOM_PREFIX}*`]) });

export const RecordingReceipt = closedObject({
  accepted: Type.Integer({ minimum: 0 }),
  duplicates: Type.Integer({ minimum: 0 }),
  invalid: Type.Array(
    closedObject({ index: Type.Integer({ minimum: 0 }), errors: Type.Array(Type.String(), { minItems: 1 }) }),
  ),
});
export type RecordingReceipt = Static<typeof RecordingReceipt>;

/** A stored event: the posted JSON, with `occurred_at` in UTC and the added `received_at`. */
export const StoredEvent = eventSchema({ type: Name, received_at: Timestamp });

export const Session = closedObject({
  session_id: Name,
  /** Id of the account that posted to the session first. */
  owner: Type.String({ format: 'uuid' }),
  started_at: Timestamp,
  source: Name,
  source_detail: nullable(Type.String()),
  ended_at: nullable(Timestamp),
});
export type Session = Static<typeof Session>;

export const SessionList = closedObject({
  results: Type.Array(
    closedObject({
      ...Session.properties,
      /** The first words of the person in it; null until they are in memory. */
      title: nullable(Type.String()),
      project: nullable(Type.String()),
      /** How many permissions of agents the person decided on in it; null if it has a title. */
      permissions: nullable(Type.Integer({ minimum: 0 })),
    }),
  ),
});
export type SessionList = Static<typeof SessionList>;

export const SessionEventsQuery = Type.Object({
  limit: pageLimit(2000, 500),
  /** The `next` of the previous page. */
  after: Type.Optional(Type.String({ pattern: '^\\d{1,15}-\\d{1,15}$' })),
});
export type SessionEventsQuery = Static<typeof SessionEventsQuery>;

export const SessionEvents = closedObject({
  session: Session,
  results: Type.Array(StoredEvent),
  next: nullable(Type.String()),
});
