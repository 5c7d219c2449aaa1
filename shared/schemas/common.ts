import Type, { type TObject, type TProperties } from 'typebox';
import { closedObject, nullable, oneOf, text, withDefault } from './build.ts';
import { IDENTIFIER_MAX, IDENTIFIER_PATTERN, NAME_MAX } from './limits.ts';

/** An id chosen by the caller or issued by Forecue. It is safe in a path, a header and a log. */
export const Identifier = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_MAX,
  pattern: IDENTIFIER_PATTERN,
});

export const Name = text(NAME_MAX, 1);

/** Schema of what a worker gets of a request: its body, and the project that its header names. */
export const withProject = <P extends TProperties>({ properties }: TObject<P>) =>
  closedObject({ ...properties, project: Type.Optional(Name) });

/** Minimum precision: the share of correct predictions among those that reach a confidence threshold. */
export const PrecisionTarget = Type.Number({ minimum: 0.5, maximum: 0.99 });

/** Maximum number of rows on a page. */
export const pageLimit = (max: number, defaultLimit: number) =>
  withDefault(Type.Integer({ minimum: 1, maximum: max }), defaultLimit);

/** A time in `/api`: RFC 3339. A request may use any zone; an answer uses UTC, with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

/** A time in a request that selects rows. A date means midnight UTC. */
export const TimeOrDate = Type.Union([Timestamp, Type.String({ format: 'date' })]);

export const NullableTimestamp = nullable(Timestamp);

export const Id = Type.String({ format: 'uuid' });

export const NullableText = nullable(Type.String());

export const Count = Type.Integer({ minimum: 0 });

export const Share = Type.Number({ minimum: 0, maximum: 1 });
export const NullableShare = nullable(Share);

export const HealthResponse = closedObject({ status: oneOf(['ok']) });

export const ReadinessResponse = closedObject({ status: oneOf(['ready']) });
