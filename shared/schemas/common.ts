import Type from 'typebox';
import { text } from './build.ts';
import { IDENTIFIER_MAX, IDENTIFIER_PATTERN, NAME_MAX } from './limits.ts';

/** An id chosen by the caller or issued by us: safe in a path, a header and a log. */
export const Identifier = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_MAX,
  pattern: IDENTIFIER_PATTERN,
});

export const Name = text(NAME_MAX, 1);

/** A time in an `/api` answer: RFC 3339, UTC, with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });
