import type { ParsedUrlQuery } from 'node:querystring';
import {
  _,
  Ajv2020,
  type CodeKeywordDefinition,
  type ErrorObject,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import ucs2length from 'ajv/dist/runtime/ucs2length.js';
import formats from 'ajv-formats';
import type { Static, TObject, TSchema } from 'typebox';
import { isStorable } from './build.ts';
import { type Fault, inputAt, QUOTED_LENGTH_MAX } from './errors.ts';
import { UUID, VALIDATION_ITEMS_MAX } from './limits.ts';
import { momentOf } from './moment.ts';

/** Part of the request from which a value comes: the first element of every `loc`. */
type RequestPart = 'body' | 'query' | 'path';

type CheckResult<T> = { ok: true; value: T } | { ok: false; faults: Fault[] };

export type Validator<T> = (value: unknown) => CheckResult<T>;

/** Becomes a 422 response that lists the faults. */
export class ValidationError extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super('validation failed');
    this.name = 'ValidationError';
    this.faults = faults;
  }
}

/**
 * Characters not allowed in an e-mail address. With invisible ones, such as the blank Braille pattern (`\u2800`), two
 * addresses could look the same.
 */
const NOT_IN_EMAIL = String.raw`\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800@`;
/** Matches an address at a domain with a dot, in any alphabet. Only a message can show whether the address exists. */
const EMAIL = new RegExp(
  String.raw`^\s*[^${NOT_IN_EMAIL}]+@[^${NOT_IN_EMAIL}.]+(\.[^${NOT_IN_EMAIL}.]+)+\s*$`,
  'u',
);

const ajv = newAjv();

interface ReportingOptions {
  /**
   * True if faults must not quote the value of an unknown property, or a body that is not an object. Both may be
   * secrets. Faults name the property nevertheless.
   */
  confidential?: boolean;
}

/**
 * The returned validator fills in defaults in place. The schema is compiled at its first use: compiling all of them at
 * the start would take a fifth of the start-up time.
 */
export function compile<T extends TSchema>(
  schema: T,
  root: RequestPart = 'body',
  reporting: ReportingOptions = {},
): Validator<Static<T>> {
  let validate: ValidateFunction<Static<T>> | undefined;
  return (value) => {
    validate ??= ajv.compile<Static<T>>(schema);
    return validate(value)
      ? { ok: true, value }
      : { ok: false, faults: listFaults(root, validate.errors ?? [], reporting) };
  };
}

function newAjv(): Ajv2020 {
  const instance = new Ajv2020({
    // Ajv creates an object for each fault. The number of values in a body, and so of its faults, is limited.
    allErrors: true,
    verbose: true,
    useDefaults: true,
    strict: true,
    // TypeBox makes valid schemas. Compiling the meta-schema would block the first request for 60 ms.
    validateSchema: false,
    allowUnionTypes: true,
  });
  for (const name of ['date-time', 'date'] as const) {
    const { validate } = formats.default.get(name) as { validate: (text: string) => boolean };
    instance.addFormat(name, (text) => validate(text) && momentOf(text) !== undefined);
  }
  instance.addFormat('uuid', UUID);
  instance.addFormat('email', EMAIL);
  for (const keyword of ['maxLength', 'minLength'])
    instance.removeKeyword(keyword).addKeyword(lengthLimit(keyword));
  return instance.addKeyword({
    keyword: 'wellFormed',
    type: 'string',
    schemaType: 'boolean',
    validate: (_: boolean, text: string) => isStorable(text),
    errors: false,
  });
}

/**
 * Replaces Ajv's keyword, which counts the code points of every text. Compares the number of UTF-16 units first, which
 * is faster: a code point has one or two units.
 */
function lengthLimit(keyword: string): CodeKeywordDefinition {
  return {
    keyword,
    type: 'string',
    schemaType: 'number',
    // Keeps the order of Ajv's own keywords, because only the first fault of a value is reported.
    before: 'pattern',
    error: { message: 'wrong length', params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
    code(cxt) {
      const { data, schema } = cxt;
      const points = _`${cxt.gen.scopeValue('func', { ref: ucs2length.default })}(${data})`;
      if (keyword === 'maxLength') cxt.fail(_`${data}.length > ${schema} && ${points} > ${schema}`);
      else cxt.fail(_`${data}.length < ${2 * schema} && ${points} < ${schema}`);
    },
  };
}

/** Lists the first fault of each field, until the list is full. */
function listFaults(root: RequestPart, errors: readonly ErrorObject[], reporting: ReportingOptions): Fault[] {
  const faults = new Map<string, Fault>();
  for (const error of errors) {
    // If a branch of an `if` fails, Ajv reports the branch's faults and then the `if` itself.
    if (error.keyword === 'if') continue;
    const name: string | undefined = error.params['missingProperty'] ?? error.params['additionalProperty'];
    // A property's name may be as long as the body, so faults show only its beginning.
    const property = name && [...name.slice(0, 2 * QUOTED_LENGTH_MAX)].slice(0, QUOTED_LENGTH_MAX).join('');
    const loc = [root, ...pointerParts(error.instancePath), ...(property === undefined ? [] : [property])];
    const key = JSON.stringify(loc);
    if (faults.has(key)) continue;
    const description = DESCRIPTIONS[error.keyword]?.(error.params) ?? OTHER_FAULT;
    faults.set(key, { loc, ...description, ...inputOf(loc, error, reporting) });
    if (faults.size === VALIDATION_ITEMS_MAX) break;
  }
  return [...faults.values()];
}

function pointerParts(pointer: string): (string | number)[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** Returns the faulty value, if it is short and not secret. The client sent it, because defaults are always valid. */
function inputOf(
  loc: readonly (string | number)[],
  error: ErrorObject,
  { confidential = false }: ReportingOptions,
): { input?: unknown } {
  const extra = error.params['additionalProperty'];
  if (confidential && (extra !== undefined || loc.length === 1)) return {};
  const value = extra === undefined ? error.data : (error.data as Record<string, unknown>)[extra];
  return inputAt(extra === undefined ? loc : [...loc, extra], value);
}

type FaultDescription = Pick<Fault, 'type' | 'msg' | 'ctx'>;

const TYPE_DESCRIPTIONS: Record<string, FaultDescription> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  integer: { type: 'int_type', msg: 'Input should be a valid integer' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be a valid object' },
};

const OTHER_FAULT: FaultDescription = { type: 'value_error', msg: 'Value error' };

const FORMAT_DESCRIPTIONS: Record<string, FaultDescription> = {
  uuid: { type: 'uuid_parsing', msg: 'Input should be a valid UUID' },
  'date-time': { type: 'datetime_parsing', msg: 'Input should be a valid date and time with a zone' },
  email: { type: 'value_error', msg: 'Input should be a valid e-mail address' },
};

type Describe = (params: ErrorObject['params']) => FaultDescription | undefined;

/** Describes a value beyond a limit, for which `#` stands in the message. */
function beyond(type: Fault['type'], name: string, msg: string): Describe {
  return ({ limit }) => ({ type, msg: msg.replace('#', limit), ctx: { [name]: limit } });
}

const DESCRIPTIONS: Record<string, Describe> = {
  required: () => ({ type: 'missing', msg: 'Field required' }),
  additionalProperties: () => ({ type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }),
  // A `nullable` schema has a list of types; the second is null.
  type: ({ type }) => TYPE_DESCRIPTIONS[[type].flat()[0]],
  minLength: beyond('string_too_short', 'min_length', 'String should have at least # characters'),
  maxLength: beyond('string_too_long', 'max_length', 'String should have at most # characters'),
  minimum: beyond('greater_than_equal', 'ge', 'Input should be greater than or equal to #'),
  maximum: beyond('less_than_equal', 'le', 'Input should be less than or equal to #'),
  minItems: beyond('too_short', 'min_length', 'List should have at least # items'),
  maxItems: beyond('too_long', 'max_length', 'List should have at most # items'),
  pattern: ({ pattern }) => ({
    type: 'string_pattern_mismatch',
    msg: `String should match pattern '${pattern}'`,
    ctx: { pattern },
  }),
  enum: ({ allowedValues }) => ({
    type: 'enum',
    msg: `Input should be one of ${allowedValues.map(String).join(', ')}`,
    ctx: { expected: allowedValues },
  }),
  format: ({ format }) => FORMAT_DESCRIPTIONS[format],
  uniqueItems: () => ({ type: 'value_error', msg: 'List should not repeat an item' }),
  wellFormed: () => ({ type: 'value_error', msg: 'Text should hold neither NUL nor a lone surrogate' }),
};

/** Numbers as in JSON, but without an exponent. */
const NUMBER_PATTERNS: Readonly<Record<string, RegExp>> = {
  integer: /^(0|-?[1-9]\d*)$/,
  number: /^-?(0|[1-9]\d*)(\.\d+)?$/,
};

/** Converts texts to numbers where the schema has a number. A parameter that is given twice stays a list of texts. */
export function compileQuery<T extends TObject>(
  schema: T,
): (sent: ParsedUrlQuery) => ReturnType<Validator<Static<T>>> {
  const check = compile(schema, 'query');
  const properties = Object.entries<TSchema & { type?: string }>(schema.properties);
  const numbers = properties.flatMap(([name, { type }]) => {
    const pattern = NUMBER_PATTERNS[type ?? ''];
    return pattern === undefined ? [] : [{ name, pattern }];
  });
  return (sent) => {
    const query: Record<string, unknown> = { ...sent };
    for (const { name, pattern } of numbers) {
      const value = query[name];
      if (typeof value === 'string' && pattern.test(value)) query[name] = Number(value);
    }
    return check(query);
  };
}
