import fc from 'fast-check';
import { type Json, resolveSchema, type Schema } from './document.ts';
import { fromPool } from './references.ts';

/** Distance of values from their schema: `valid` ones keep to it, `loose` ones often stray, close to its limits. */
export type Manner = 'valid' | 'loose';

/** Texts that trip programs up. Lone surrogates and NULs are not among them: those are edits of the JSON. */
const NAUGHTY_TEXTS = [
  ' ',
  '\t\n\r',
  '\u00a0\u2003',
  '\u200b',
  '\u2028\u2029',
  '\ufeff',
  '\ufffd\uffff',
  '\u202egnp.exe',
  '\u0001\u001b[31m',
  'e\u0301',
  '\u0345\u0130\u00df\ufb01',
  '👩‍👩‍👧‍👦',
  '\u{1d160}\u{10ffff}',
  '\u2800',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '-0',
  '1e400',
  "'; drop table accounts; --",
  '<script>alert(1)</script>',
  '../../../../etc/passwd',
  '#{7*7}{{7*7}}%s%n',
  '\\u0000\\x00%00',
  '\\',
  '"',
  'a'.repeat(90),
];

/** Characters of one and of two UTF-16 units, one that NFC expands, and one that combines. */
const UNITS = ['x', 'é', '中', '😀', '\u{1d160}', '\u0301', '\u{10ffff}'];

const TIMES = [
  ...'2026-05-01T12:00:00Z 2026-02-28T23:59:59.999Z 2024-02-29T00:00:00+14:00'.split(' '),
  ...'2026-12-31T23:59:59.9999999-12:00 2000-01-01T00:00:00Z 2000-01-01T00:00:00+00:01'.split(' '),
  '2026-01-31t23:59:59z',
];
const ODD_TIMES = [
  ...'2023-02-29T00:00:00Z 2026-06-30T23:59:60Z 1999-12-31T23:59:59.999Z 9999-12-31T23:59:59Z'.split(' '),
  ...'0000-01-01T00:00:00Z +010000-01-01T00:00:00Z 2026-05-01 2026-05-01T24:00:00Z'.split(' '),
  '2026-05-01T12:00:00',
  '2026-05-01 12:00:00Z',
  ...'2026-05-01T12:00:00+0000 2026-05-01T12:00:00.Z'.split(' '),
  `2026-05-01T12:00:00.${'1'.repeat(5000)}Z`,
];

const UUIDS = ['00000000-0000-0000-0000-000000000000', '01978f6e-0000-7000-8000-000000000001'];
export const ODD_UUIDS = [
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  ...['{01978f6e-0000-7000-8000-000000000001}', 'urn:uuid:01978f6e-0000-7000-8000-000000000001'],
  ...['01978f6e00007000800000000000000a', '01978f6e-0000-7000-8000-00000000000'],
  '０1978f6e-0000-7000-8000-000000000001',
];
export const MONTHS = ['2026-11', '2026-01', '2026-12', '2024-02', '0000-01', '9999-12', '1970-01'];

/** Values that mean something in an installation, by property: existing ids, words used before. */
const MEANINGFUL_VALUES: Record<string, fc.Arbitrary<Json>> = {
  user_id: fc.constantFrom('u-1', 'u-2', 'u-3'),
  session_id: fc.oneof(fc.constantFrom('s-1', 's-2', 's-3', 's-4'), fc.uuid()),
  request_id: fc.oneof(fc.uuid(), fromPool('predictions'), fromPool('attempts')),
  event_id: fc.constantFrom('e-1', 'e-2', 'e-3'),
  connection_id: fc.oneof(
    { weight: 3, arbitrary: fromPool('connections') },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  revision: fc.nat(9),
  redirect_uri: fromPool('redirects'),
  code: fromPool('invites'),
  code_challenge: fromPool('challenges'),
  refresh: fromPool('refreshes'),
  email: fc.oneof(
    fromPool('emails'),
    fc.uuid().map((id) => `${id}@example.com`),
  ),
  password: fromPool('passwords'),
  current_password: fromPool('passwords'),
  invite_code: fromPool('invites'),
  occurred_at: fc.constantFrom(...TIMES, ...ODD_TIMES),
  id: fc.oneof(fc.uuid(), fromPool('events')),
  in_reply_to: fromPool('events'),
  raw_ids: listFromPool('raw rows'),
  episode_ids: listFromPool('episodes'),
  superseded_by: fc.option(fromPool('facts')),
};
const MEANINGFUL_WEIGHT = 3;

export function valuesOf(schema: Schema, manner: Manner, name?: string): fc.Arbitrary<Json> {
  const plain = byKind(resolveSchema(schema), manner);
  const meaningful = name === undefined ? undefined : MEANINGFUL_VALUES[name];
  return meaningful === undefined
    ? plain
    : fc.oneof({ weight: MEANINGFUL_WEIGHT, arbitrary: meaningful }, { weight: 1, arbitrary: plain });
}

function byKind(schema: Schema, manner: Manner): fc.Arbitrary<Json> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, manner)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => byKind({ ...schema, type }, manner)));
  switch (schema.type) {
    case 'object':
      return objects(schema, manner);
    case 'array':
      return arrays(schema, manner);
    case 'string':
      return strings(schema, manner);
    case 'integer':
    case 'number':
      return numbers(schema, manner);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return anything;
  }
}

const anything = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;

function objects({ properties = {}, required = [] }: Schema, manner: Manner): fc.Arbitrary<Json> {
  const model = Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema, manner, name)]);
  // A loose object may also lack a required property.
  const requiredKeys = manner === 'valid' ? required : required.slice(1);
  const record: Record<string, fc.Arbitrary<Json>> = Object.fromEntries(model);
  return fc.record(record, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<Json>;
}

/** Generates lists. Long ones repeat one element, so that they are cheap to make. */
function arrays({ items = {}, minItems = 0, maxItems = 50 }: Schema, manner: Manner): fc.Arbitrary<Json> {
  const element = valuesOf(items, manner);
  const short = fc.array(element, { minLength: minItems, maxLength: Math.min(maxItems, 4) });
  const lengths = manner === 'valid' ? [maxItems] : [0, maxItems, maxItems + 1];
  const long = fc
    .tuple(element, fc.constantFrom(...lengths))
    .map(([one, length]) => Array.from({ length }, () => one));
  return fc.oneof({ weight: 40, arbitrary: short }, { weight: 1, arbitrary: long });
}

function strings(schema: Schema, manner: Manner): fc.Arbitrary<string> {
  if (schema.format === 'date-time')
    return fc.constantFrom(...TIMES, ...(manner === 'valid' ? [] : ODD_TIMES));
  if (schema.format === 'uuid') return fc.constantFrom(...UUIDS, ...(manner === 'valid' ? [] : ODD_UUIDS));
  if (schema.format === 'email') return emails(schema, manner);
  return schema.pattern === undefined
    ? texts(schema, manner)
    : matchingPattern(schema, schema.pattern, manner);
}

/** Generates texts: mostly short ones, and rarely ones at a limit, the longer the rarer. */
function texts({ minLength = 0, maxLength = 300 }: Schema, manner: Manner): fc.Arbitrary<string> {
  const fits = (text: string) => {
    const { length } = [...text];
    return length >= minLength && length <= maxLength;
  };
  const short = fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, minLength + 12) });
  const naughty = NAUGHTY_TEXTS.map((text) => text.padEnd(minLength, text)).filter(fits);
  const lengths = manner === 'valid' ? [minLength, maxLength] : [minLength - 1, maxLength, maxLength + 1];
  return fc.oneof(
    { weight: 20, arbitrary: short },
    { weight: 10, arbitrary: naughty.length > 0 ? fc.constantFrom(...naughty) : short },
    { weight: maxLength > 1000 ? 1 : 5, arbitrary: ofLength(lengths, UNITS) },
  );
}

function ofLength(lengths: number[], units: string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...lengths), fc.constantFrom(...units))
    .map(([length, unit]) => unit.repeat(Math.max(0, length)));
}

const ONE_CLASS = /^\^(\[[^\]]+\])\+\$$/;

function matchingPattern(
  { minLength = 1, maxLength = 80 }: Schema,
  pattern: string,
  manner: Manner,
): fc.Arbitrary<string> {
  const [, unit] = ONE_CLASS.exec(pattern) ?? [];
  const matching =
    unit === undefined
      ? fc.stringMatching(new RegExp(pattern))
      : fc.string({
          unit: fc.stringMatching(new RegExp(`^${unit}$`)),
          minLength,
          maxLength: Math.min(maxLength, minLength + 20),
        });
  const bounds = ofLength(manner === 'valid' ? [minLength, maxLength] : [minLength - 1, maxLength + 1], [
    'x',
  ]);
  const odd = fc.oneof(bounds, fc.constantFrom(...NAUGHTY_TEXTS));
  const either = unit === undefined && manner === 'valid' ? matching : manner === 'valid' ? bounds : odd;
  return fc.oneof({ weight: 5, arbitrary: matching }, { weight: 1, arbitrary: either });
}

function emails({ maxLength = 254 }: Schema, manner: Manner): fc.Arbitrary<string> {
  const valid = fc.oneof(
    fc.uuid().map((id) => `${id}@example.com`),
    fc.constantFrom(' A.b+c@Example.COM ', `${'x'.repeat(maxLength - 60)}@${'y'.repeat(50)}.com`),
  );
  const odd = fc.constantFrom(
    '',
    '@',
    'a@b',
    'a b@example.com',
    'a@exa\u200bmple.com',
    'ünï@exämple.com',
    `${'\u{1d160}'.repeat(240)}@ab.cd`,
    `${'😀'.repeat(maxLength)}@ab.cd`,
  );
  return manner === 'valid' ? valid : fc.oneof(valid, odd);
}

function numbers({ type, minimum = 0, maximum = 2 ** 53 - 1 }: Schema, manner: Manner): fc.Arbitrary<number> {
  const most = Math.min(maximum, minimum + 20);
  const between = fc.double({ min: minimum, max: most, noNaN: true });
  const beyond = manner === 'valid' ? [] : [minimum - 1, maximum + 1, 0.5, -1, 2 ** 31, 2 ** 63];
  return fc.oneof(
    type === 'integer' ? fc.integer({ min: minimum, max: most }) : between,
    fc.constantFrom(minimum, maximum, ...beyond),
  );
}

function listFromPool(pool: string): fc.Arbitrary<Json> {
  return fc.array(fromPool(pool), { maxLength: 3 });
}
