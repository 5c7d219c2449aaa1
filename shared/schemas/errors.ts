import Type, { type Static } from 'typebox';
import type { ErrorCode } from '../errors/catalogue.ts';
import { closedObject, oneOf } from './build.ts';
import { VALIDATION_ITEMS_MAX } from './limits.ts';

const FAULT_TYPES = [
  'missing',
  'extra_forbidden',
  'string_type',
  'int_type',
  'float_type',
  'bool_type',
  'list_type',
  'dict_type',
  'string_too_short',
  'string_too_long',
  'string_pattern_mismatch',
  'enum',
  'greater_than_equal',
  'less_than_equal',
  'too_short',
  'too_long',
  'uuid_parsing',
  'datetime_parsing',
  'value_error',
] as const;

export const QUOTED_LENGTH_MAX = 200;

/**
 * Names of properties whose values are not quoted in errors. Names decide, not schemas, because errors may report
 * unknown properties.
 */
const SECRET_NAME = /passw|secret|token|code|verifier|key|refresh|access|credential|authorization/i;

export const errorBody = (codes: readonly ErrorCode[]) =>
  closedObject({ detail: closedObject({ code: oneOf(codes) }) });

/** Error body of `/api`. `message` is one sentence for people. */
export const explainedErrorBody = (codes: readonly ErrorCode[]) =>
  closedObject({ detail: closedObject({ code: oneOf(codes), message: Type.String() }) });

/** A validation error. Only the first one of each field is reported. */
export const Fault = closedObject({
  loc: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] }), { minItems: 1 }),
  msg: Type.String(),
  type: oneOf(FAULT_TYPES),
  ctx: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  input: Type.Optional(Type.Unknown()),
});
export type Fault = Static<typeof Fault>;

/** The body of a 422. */
export const ValidationErrorBody = closedObject({
  detail: Type.Array(Fault, { minItems: 1, maxItems: VALIDATION_ITEMS_MAX }),
});
export type ValidationErrorBody = Static<typeof ValidationErrorBody>;

/** Returns the faulty value at a place of the request, if it is short and not secret. */
export function inputAt(loc: readonly (string | number)[], value: unknown): Pick<Fault, 'input'> {
  const isShown = value === null || typeof value === 'boolean' || Number.isFinite(value) || isQuotable(value);
  return isShown && !loc.some((part) => SECRET_NAME.test(String(part))) ? { input: value } : {};
}

/** A URL may have a password before its host. */
function isQuotable(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.length <= 2 * QUOTED_LENGTH_MAX &&
    [...value].length <= QUOTED_LENGTH_MAX &&
    !/\/\/[^/]*@/.test(value)
  );
}
