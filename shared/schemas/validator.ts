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
import type { Fault } from './errors.ts';
import { UUID, VALIDATION_ITEMS_MAX } from './limits.ts';

/** Part of the request from which a checked value comes. It is the first element of every `loc`. */
type Root = 'body' | 'query' | 'path';

type Checked<T> = { ok: true; value: T } | { ok: false; faults: Fault[] };

export type Validator<T> = (value: unknown) => Checked<T>;

/** Thrown when a client's value does not match its schema. The faults become the list of a 422. */
export class ValidationError extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super('validation failed');
    this.name = 'ValidationError';
    this.faults = faults;
  }
}

const INPUT_MAX = 200;
const LISTED_NODES_MAX = 50_000;

/**
 * Names of properties that may contain a secret. The name decides, not the schema, because unknown properties are
 * reported as well.
 */
const SECRET_NAME = /passw|secret|token|code|verifier|key|refresh|access|credential|authorization/i;

/**
 * Characters that an e-mail address must not contain: among others invisible ones (UAX #44
 * Default_Ignorable_Code_Point, and the blank Braille pattern), with which a second address could look the same.
 */
const NOT_IN_EMAIL = String.raw`\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800@`;
/** Matches an address at a domain with a dot, in any alphabet. Only a message can show whether the address exists. */
const EMAIL = new RegExp(
  String.raw`^\s*[^${NOT_IN_EMAIL}]+@[^${NOT_IN_EMAIL}.]+(\.[^${NOT_IN_EMAIL}.]+)+\s*$`,
  'u',
);

const failFastAjv = newAjv(false);
const thoroughAjv = newAjv(true);

interface ReportingOptions {
  /**
   * True if faults must not quote the value of an unknown property, or a body that is not an object: either may be a
   * secret in the wrong place.
   */
  confidential?: boolean;
}

/**
 * Returns the validator of a schema. The validator fills in a value's defaults in place, or returns the list of faults
 * for a 422. The schema is compiled soon after this call, or earlier for the first value. The variant that lists all
 * faults is compiled for the first invalid value.
 */
export function compile<T extends TSchema>(
  schema: T,
  root: Root = 'body',
  reporting: ReportingOptions = {},
): Validator<Static<T>> {
  let compiled: ValidateFunction<Static<T>> | undefined;
  const compileOnce = () => {
    compiled ??= failFastAjv.compile<Static<T>>(schema);
    return compiled;
  };
  compileSoon(compileOnce);
  let validateAll: ValidateFunction | undefined;
  return (value) => {
    const validateUntilFirstFault = compileOnce();
    if (validateUntilFirstFault(value)) return { ok: true, value };
    let { errors } = validateUntilFirstFault;
    if (isSmall(value)) {
      validateAll ??= thoroughAjv.compile(schema);
      if (!validateAll(value)) errors = validateAll.errors;
    }
    return { ok: false, faults: listFaults(root, errors ?? [], reporting) };
  };
}

const COMPILE_DELAY_MS = 100;
const toCompile: (() => unknown)[] = [];

/**
 * Compiles a schema after the start, one per turn of the event loop. Compiling all schemas at once would take a fifth
 * of the start-up time.
 */
function compileSoon(compileOne: () => unknown): void {
  toCompile.push(compileOne);
  if (toCompile.length === 1) setTimeout(compileNext, COMPILE_DELAY_MS).unref();
}

function compileNext(): void {
  toCompile.shift()?.();
  if (toCompile.length > 0) setTimeout(compileNext, 1).unref();
}

function newAjv(allErrors: boolean): Ajv2020 {
  const instance = new Ajv2020({
    allErrors,
    verbose: true,
    useDefaults: true,
    strict: true,
    // TypeBox makes valid schemas. Compiling the meta-schema would block the first request for 60 ms.
    validateSchema: false,
    allowUnionTypes: true,
  });
  formats.default(instance, ['date-time']);
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
 * Replaces Ajv's `minLength` or `maxLength`, which counts the code points of every text. A code point has one or two
 * UTF-16 units, so the number of units usually decides.
 */
function lengthLimit(keyword: string): CodeKeywordDefinition {
  return {
    keyword,
    type: 'string',
    schemaType: 'number',
    // Keeps Ajv's order, which decides which fault is found first: only the first fault of a value is reported.
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

/**
 * Reports whether a value is small enough to list all its faults. Ajv creates an object for every fault, although only
 * a hundred are kept: for a list of two million numbers, that takes 0.6 s and 460 MB.
 */
function isSmall(root: unknown): boolean {
  let nodesLeft = LISTED_NODES_MAX;
  const unvisited = [root];
  while (unvisited.length > 0) {
    const node = unvisited.pop();
    if (typeof node !== 'object' || node === null) continue;
    const children = Array.isArray(node) ? node : Object.values(node);
    nodesLeft -= children.length;
    if (nodesLeft < 0) return false;
    unvisited.push(...children);
  }
  return true;
}

/** Lists the first fault of each field, until the list is full. */
function listFaults(root: Root, errors: readonly ErrorObject[], reporting: ReportingOptions): Fault[] {
  const faults = new Map<string, Fault>();
  for (const error of errors) {
    // Ajv reports a failed branch again after the branch's own faults.
    if (error.keyword === 'if') continue;
    const name: string | undefined = error.params['missingProperty'] ?? error.params['additionalProperty'];
    // A property's name may be as long as the body, and no memory is reserved for the answer.
    const property = name && [...name.slice(0, 2 * INPUT_MAX)].slice(0, INPUT_MAX).join('');
    const loc = [root, ...pointerParts(error.instancePath), ...(property === undefined ? [] : [property])];
    const key = JSON.stringify(loc);
    if (faults.has(key)) continue;
    faults.set(key, { loc, ...describe(error), ...inputOf(loc, error, reporting) });
    if (faults.size === VALIDATION_ITEMS_MAX) break;
  }
  return [...faults.values()];
}

function pointerParts(pointer: string): (string | number)[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** Returns the faulty value, if it is short and not secret. Defaults are valid, so the client sent this value. */
function inputOf(
  loc: readonly (string | number)[],
  error: ErrorObject,
  { confidential = false }: ReportingOptions,
): { input?: unknown } {
  const extra = error.params['additionalProperty'];
  if (confidential && (extra !== undefined || loc.length === 1)) return {};
  const value = extra === undefined ? error.data : (error.data as Record<string, unknown>)[extra];
  const isShown =
    value === null ||
    typeof value === 'boolean' ||
    Number.isFinite(value) ||
    (typeof value === 'string' && value.length <= 2 * INPUT_MAX && ucs2length.default(value) <= INPUT_MAX);
  return isShown && ![...loc, extra].some((part) => SECRET_NAME.test(String(part))) ? { input: value } : {};
}

type Description = Pick<Fault, 'type' | 'msg' | 'ctx'>;

const TYPE_DESCRIPTIONS: Record<string, Description> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  integer: { type: 'int_type', msg: 'Input should be a valid integer' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be a valid object' },
};

const OTHER_FAULT: Description = { type: 'value_error', msg: 'Value error' };

const FORMAT_DESCRIPTIONS: Record<string, Description> = {
  uuid: { type: 'uuid_parsing', msg: 'Input should be a valid UUID' },
  'date-time': { type: 'datetime_parsing', msg: 'Input should be a valid date and time with a zone' },
  email: { type: 'value_error', msg: 'Input should be a valid e-mail address' },
};

/** Maps Ajv's keyword and its `params` to the type and message in a 422. */
const DESCRIPTIONS: Record<string, (params: ErrorObject['params']) => Description | undefined> = {
  required: () => ({ type: 'missing', msg: 'Field required' }),
  additionalProperties: () => ({ type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }),
  // `nullable` makes a type list, whose second type is null.
  type: ({ type }) => TYPE_DESCRIPTIONS[[type].flat()[0]],
  minLength: ({ limit }) => ({
    type: 'string_too_short',
    msg: `String should have at least ${limit} characters`,
    ctx: { min_length: limit },
  }),
  maxLength: ({ limit }) => ({
    type: 'string_too_long',
    msg: `String should have at most ${limit} characters`,
    ctx: { max_length: limit },
  }),
  pattern: ({ pattern }) => ({
    type: 'string_pattern_mismatch',
    msg: `String should match pattern '${pattern}'`,
    ctx: { pattern },
  }),
  enum: ({ allowedValues }) => ({
    type: 'enum',
    msg: `Input should be one of ${allowedValues.join(', ')}`,
    ctx: { expected: allowedValues },
  }),
  minimum: ({ limit }) => ({
    type: 'greater_than_equal',
    msg: `Input should be greater than or equal to ${limit}`,
    ctx: { ge: limit },
  }),
  maximum: ({ limit }) => ({
    type: 'less_than_equal',
    msg: `Input should be less than or equal to ${limit}`,
    ctx: { le: limit },
  }),
  minItems: ({ limit }) => ({
    type: 'too_short',
    msg: `List should have at least ${limit} items`,
    ctx: { min_length: limit },
  }),
  maxItems: ({ limit }) => ({
    type: 'too_long',
    msg: `List should have at most ${limit} items`,
    ctx: { max_length: limit },
  }),
  format: ({ format }) => FORMAT_DESCRIPTIONS[format],
  wellFormed: () => ({ type: 'value_error', msg: 'Text should hold neither NUL nor a lone surrogate' }),
};

function describe(error: ErrorObject): Description {
  return DESCRIPTIONS[error.keyword]?.(error.params) ?? OTHER_FAULT;
}

/** Patterns of the numbers in a query, by type: as in JSON, but without an exponent, and with a limited precision. */
const NUMBER_PATTERNS: Readonly<Record<string, RegExp>> = {
  integer: /^(0|-?[1-9]\d{0,14})$/,
  number: /^-?(0|[1-9]\d{0,14})(\.\d{1,6})?$/,
};

/**
 * Returns the validator of a query, whose values are texts, or lists of texts if a name is repeated. Where the schema
 * has a number, a numeric text becomes a number; the schema refuses anything else.
 */
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
