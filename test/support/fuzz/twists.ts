import fc from 'fast-check';
import { type ByteEdit, byteEdits, PACKINGS, type Packing } from './byte-edits.ts';
import { CREDENTIAL_FORMS, type CredentialForm, PATH_FORMS, type PathForm } from './forms.ts';
import { type JsonEdit, jsonEdits } from './json-edits.ts';
import { MONTHS, ODD_UUIDS } from './values.ts';
import { WIRE_FORMS, type WireForm } from './wire.ts';

export type Twist =
  | { kind: 'method'; method: string }
  | { kind: 'path'; form: PathForm }
  /** Replaces the path's first parameter, unencoded. */
  | { kind: 'param'; raw: string }
  | { kind: 'query'; raw: string }
  | { kind: 'credential'; form: CredentialForm }
  | { kind: 'header'; name: string; value: string }
  | { kind: 'type'; value: string }
  | { kind: 'json'; edits: JsonEdit[] }
  | { kind: 'bytes'; edit: ByteEdit }
  | { kind: 'packing'; packing: Packing; header: string }
  | { kind: 'framing'; form: Framing }
  | { kind: 'wire'; form: WireForm };

/** Methods to try. Node's client and server accept no invented ones. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];

/** `abandoned`: the connection closes before the end of the body; `unheard`: it closes before the answer. */
const FRAMINGS = ['chunked', 'bytewise', 'abandoned', 'unheard'] as const;
export type Framing = (typeof FRAMINGS)[number];

const HEADERS: Record<string, readonly string[]> = {
  'X-Request-Id': ['', 'x'.repeat(81), 'a b', '\xff', '../..', '"'],
  Prefer: ['wait', 'WAIT', 'wait=1; x', ',,;=', 'wait,'.repeat(500), 'respond-async'],
  'X-On-Disconnect': ['cancel', 'continue', '__proto__', ''],
  'X-HTTP-Method-Override': ['DELETE', 'GET', 'constructor'],
  'X-HTTP-Method': ['DELETE'],
  'X-Method-Override': ['PATCH'],
  'X-Original-URL': ['/api/auth/me/'],
  'X-Forwarded-For': ['', ',', '::1', '999.1.1.1', '[::1%eth0]:80', 'x'.repeat(3000), '1.1.1.1,'.repeat(200)],
  'X-Forwarded-Proto': ['javascript', ''],
  'X-Forwarded-Host': ['evil.example', '[', ''],
  Forwarded: ['for="[::1]";host=x'],
  Host: ['', 'evil.example', '[', 'a b', 'x:99999', 'x'.repeat(3000)],
  Accept: ['text/event-stream', '*/*;q=2', ',', 'text/html', ';'],
  'Accept-Encoding': ['gzip', 'identity;q=0', '*;q=0'],
  'Accept-Language': ['*'],
  Expect: ['100-continue', '100-Continue', 'the moon', ''],
  Upgrade: ['h2c', 'websocket'],
  Connection: ['close', 'upgrade', 'keep-alive, x', 'authorization'],
  TE: ['trailers'],
  Origin: ['null', 'https://evil.example', 'https://app.example', ''],
  Cookie: ['forecue=x', 'a=b; a=c; =; __proto__=1', ';'.repeat(300)],
  'If-None-Match': ['*', '"x"'],
  'If-Modified-Since': ['yesterday'],
  Range: ['bytes=0-1', 'bytes=9-1'],
  'Idempotency-Key': ['', 'k', 'x'.repeat(300)],
  'Content-Language': ['xx'],
  'Max-Forwards': ['0'],
  'X-Service-API-Key': ['', 'service_x', 'null'],
};
const headerPairs = Object.entries(HEADERS).flatMap(([name, values]) =>
  values.map((value) => ({ kind: 'header' as const, name, value })),
);

const TYPES = [
  '',
  'application/json; charset=utf-8',
  'APPLICATION/JSON; Charset="UTF-8"',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'application/json;charset=utf-8;charset=utf-7',
  'application/json;',
  'application/json, text/plain',
  'application/problem+json',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'json',
  '\xff/\xff',
];

const ENCODINGS = [
  'gzip',
  'gzip',
  'gzip',
  'GZIP',
  'identity',
  '',
  'br',
  'deflate',
  'x-gzip',
  'gzip, gzip',
  'zstd',
];

const RAW_PARAMS = [
  '',
  ...'. .. %2e%2e %00 a%00b %2F %5C % %zz %u0041 %25 %C0%80 %ED%A0%80 %F4%90%80%80 %F0%9F%98%80'.split(' '),
  ...'\xf0\x9f\x98\x80 %20 + * :id {id} __proto__ constructor 1'.split(' '),
  ...[80, 81, 200, 201].map((length) => 'x'.repeat(length)),
  '%F0%9F%98%80'.repeat(200),
  '%F0%9F%98%80'.repeat(201),
  ...ODD_UUIDS.map((id) => encodeURIComponent(id)),
];

const QUERIES = [
  ...'? ?&&=& ?limit=1&limit=2 ?limit[]=1 ?limit[a]=1 ?limit=%00 ?limit=%F0%9F ?limit=1e1'.split(' '),
  ...'?limit=%EF%BC%91 ?limit=99999999999999999999 ?limit=0001 ?limit=2000 ?after=1-1'.split(' '),
  ...'?after=999999999999999-999999999999999 ?after=-1--1 ?after=000000000000000-0'.split(' '),
  ...'?month=2026-13 ?month=2026-00 ?month=2026-1 ?month=%32026-11 ?month=2026-11%00'.split(' '),
  ...'?month=2026-11%0A ?month=2026-11&month=2026-11'.split(' '),
  ...'?month=%EF%BC%99%EF%BC%99%EF%BC%99%EF%BC%99-01 ?__proto__=1&constructor=2&toString=3'.split(' '),
  ...'?__proto__[x]=1 ?%ZZ=%ZZ ?_method=DELETE'.split(' '),
  `?${'a=1&'.repeat(2000)}`,
  `?x=${'y'.repeat(15_000)}`,
  '?a?b#c',
  '?\xff',
  ...MONTHS.map((month) => `?month=${month}`),
];

const oneOf = <const V extends readonly unknown[]>(values: V) =>
  fc.constantFrom(...values) as fc.Arbitrary<V[number]>;

const namesOf = <Name extends string>(table: Record<Name, unknown>) =>
  fc.constantFrom(...(Object.keys(table) as Name[]));

const HEAD_TWISTS: fc.Arbitrary<Twist>[] = [
  oneOf(METHODS).map((method) => ({ kind: 'method', method })),
  namesOf(PATH_FORMS).map((form) => ({ kind: 'path', form })),
  oneOf(RAW_PARAMS).map((raw) => ({ kind: 'param', raw })),
  oneOf(QUERIES).map((raw) => ({ kind: 'query', raw })),
  namesOf(CREDENTIAL_FORMS).map((form) => ({ kind: 'credential', form })),
  oneOf(headerPairs),
];

const BODY_TWISTS: fc.Arbitrary<Twist>[] = [
  jsonEdits.map((edits) => ({ kind: 'json', edits })),
  byteEdits.map((edit) => ({ kind: 'bytes', edit })),
  oneOf(TYPES).map((value) => ({ kind: 'type', value })),
  fc.record({ kind: fc.constant('packing' as const), packing: namesOf(PACKINGS), header: oneOf(ENCODINGS) }),
  oneOf(FRAMINGS).map((form) => ({ kind: 'framing', form })),
];

const WIRE_TWISTS: fc.Arbitrary<Twist> = namesOf(WIRE_FORMS).map((form) => ({ kind: 'wire', form }));

/** Generates twists: none for three of ten requests, and for the others with a body mostly twists of the body. */
export function twistsFor({ hasBody }: { hasBody: boolean }): fc.Arbitrary<Twist[]> {
  const [edits, ...others] = BODY_TWISTS;
  const twist = fc.oneof(
    ...(hasBody && edits ? [{ weight: 14, arbitrary: edits }] : []),
    ...(hasBody ? others.map((arbitrary) => ({ weight: 2, arbitrary })) : []),
    ...HEAD_TWISTS.map((arbitrary) => ({ weight: 2, arbitrary })),
    { weight: 1, arbitrary: WIRE_TWISTS },
    { weight: 1, arbitrary: fc.constant<Twist>({ kind: 'framing', form: 'unheard' }) },
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant<Twist[]>([]) },
    { weight: 5, arbitrary: fc.tuple(twist) },
    { weight: 2, arbitrary: fc.tuple(twist, twist) },
  );
}
