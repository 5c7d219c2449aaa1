import Type from 'typebox';
import { text } from './build.ts';
import { IDENTIFIER_MAX, IDENTIFIER_PATTERN, NAME_MAX } from './limits.ts';

/** An id that the caller chose or that we issued: it can stand in a path, a header and a log. */
export const Identifier = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_MAX,
  pattern: IDENTIFIER_PATTERN,
});

export const Name = text(NAME_MAX, 1);
