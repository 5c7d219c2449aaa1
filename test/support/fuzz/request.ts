import { applyByteEdit, packBody } from './byte-edits.ts';
import type { Json, Operation } from './document.ts';
import { applyJsonEdits } from './json-edits.ts';
import { encodeForm, isPage, type ShownForm } from './pages.ts';
import type { Plan } from './plans.ts';
import { type Pools, resolveReferences } from './references.ts';
import type { CredentialForm, Framing, PathForm, Twist, WireForm } from './twists.ts';

export interface Request {
  operation: Operation;
  method: string;
  target: string;
  headers: [name: string, value: string][];
  /** Body before it is packed. */
  json: Buffer | undefined;
  body: Buffer | undefined;
  framing: Framing | undefined;
  wire: WireForm | undefined;
  /** True if the credential is good, or none is needed. */
  authorized: boolean;
}

export interface Surroundings extends Pools {
  credential(operation: Operation): Credentials;
}

export interface Credentials {
  bearer: string;
  key: string;
  /** A good credential for the other API. */
  other: string;
}

export function requestOf(plan: Plan, operation: Operation, at: Surroundings): Request {
  const { caller, twists } = plan;
  const form =
    operation.body !== undefined && isPage(operation)
      ? encodeForm(resolveReferences(plan.body, at))
      : undefined;
  const json =
    operation.body === undefined ? undefined : ((form && bytesAfter(twists, form.text)) ?? jsonOf(plan, at));
  const packing = find(twists, 'packing');
  const body = json && (packing === undefined ? json : packBody(json, packing.packing));
  const { headers, authorized } = credentialHeaders(
    operation,
    at.credential(operation),
    find(twists, 'credential')?.form,
  );
  return {
    operation,
    method: find(twists, 'method')?.method ?? operation.method,
    target: targetOf(withAttempt(plan, form?.browser), operation, at),
    headers: withTwists(
      [
        ['Host', '127.0.0.1'],
        ['X-Forwarded-For', addressOf(caller)],
        ...headers,
        ...Object.entries(plan.headers),
        ...contentHeaders(
          twists,
          body,
          form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
        ),
        ...(form?.browser === undefined ? [] : [['Cookie', form.browser.cookie] satisfies [string, string]]),
      ],
      twists,
    ),
    json,
    body,
    framing: find(twists, 'framing')?.form,
    wire: find(twists, 'wire')?.form,
    authorized,
  };
}

function find<K extends Twist['kind']>(twists: readonly Twist[], kind: K) {
  return twists.find((one): one is Extract<Twist, { kind: K }> => one.kind === kind);
}

function jsonOf({ body, twists }: Plan, at: Surroundings): Buffer {
  const text = applyJsonEdits(resolveReferences(body, at), find(twists, 'json')?.edits ?? []);
  return bytesAfter(twists, text);
}

function bytesAfter(twists: readonly Twist[], text: string): Buffer {
  const bytes = Buffer.from(text);
  const edit = find(twists, 'bytes')?.edit;
  return edit === undefined ? bytes : applyByteEdit(bytes, edit);
}

/** Returns an address in one of many networks, so that limits per network do not end a run. */
function addressOf(caller: number): string {
  return `10.${caller >> 8}.${caller & 255}.1`;
}

function contentHeaders(
  twists: readonly Twist[],
  body: Buffer | undefined,
  usual: string,
): [string, string][] {
  if (body === undefined) return [];
  const type = find(twists, 'type')?.value ?? usual;
  const encoding = find(twists, 'packing')?.header ?? '';
  return [
    ...(type === '' ? [] : [['Content-Type', type] satisfies [string, string]]),
    ...(encoding === '' ? [] : [['Content-Encoding', encoding] satisfies [string, string]]),
  ];
}

function withTwists(headers: [string, string][], twists: readonly Twist[]): [string, string][] {
  const header = find(twists, 'header');
  if (header === undefined) return headers;
  const others = headers.filter(([name]) => name !== header.name);
  return [...others, [header.name, header.value]];
}

function credentialHeaders(
  { credential }: Operation,
  { bearer, key, other }: Credentials,
  form: CredentialForm | undefined,
): { headers: [string, string][]; authorized: boolean } {
  if (credential === 'none') return { headers: [], authorized: true };
  const good = (headers: [string, string][]) => ({ headers, authorized: true });
  const bad = (authorization?: string) => ({
    headers: authorization === undefined ? [] : [['Authorization', authorization] satisfies [string, string]],
    authorized: false,
  });
  switch (form) {
    case undefined:
      return good([['Authorization', `Bearer ${bearer}`]]);
    case 'lower case scheme':
      return good([['Authorization', `bearer ${bearer}`]]);
    case 'two spaces':
      return good([['Authorization', `Bearer  ${bearer}`]]);
    case 'key':
      return credential === 'user' ? good([['X-Service-API-Key', key]]) : bad(`Bearer ${key}`);
    case 'none':
      return bad();
    case 'other kind':
      return bad(`Bearer ${other}`);
    case 'basic':
      return bad(`Basic ${Buffer.from(`x:${bearer}`).toString('base64')}`);
    case 'no scheme':
      return bad(bearer);
    case 'cut':
      return bad(`Bearer ${bearer.slice(0, -1)}`);
    case 'changed':
      return bad(`Bearer ${bearer.slice(0, 10)}${bearer[10] === 'x' ? 'y' : 'x'}${bearer.slice(11)}`);
    case 'with more':
      return bad(`Bearer ${bearer}, Bearer ${bearer}`);
    case 'unsigned':
      return bad(
        `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${bearer.split('.')[1] ?? ''}.`,
      );
    case 'empty key':
      return {
        headers: [
          ['Authorization', `Bearer ${bearer}`],
          ['X-Service-API-Key', ''],
        ],
        authorized: credential === 'app',
      };
  }
}

function withAttempt(plan: Plan, shown: ShownForm | undefined): Plan {
  return shown === undefined ? plan : { ...plan, params: { request_id: shown.attempt } };
}

function targetOf({ params, query, twists }: Plan, { path }: Operation, at: Surroundings): string {
  const raw = find(twists, 'param')?.raw;
  const [first] = /\{\w+\}/.exec(path) ?? [];
  const filled = path.replaceAll(/\{(\w+)\}/g, (all, name) =>
    all === first && raw !== undefined
      ? raw
      : encodeURIComponent(String(resolveReferences(params[name] ?? '', at)).toWellFormed()),
  );
  const odd = find(twists, 'path');
  return (
    (odd === undefined ? filled : oddPath(filled, odd.form)) + (find(twists, 'query')?.raw ?? queryOf(query))
  );
}

function queryOf(query: Record<string, Json>): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  ).toString();
  return text === '' ? '' : `?${text}`;
}

function oddPath(path: string, form: PathForm): string {
  switch (form) {
    case 'other slash':
      return path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    case 'double slash':
      return `/${path}`;
    case 'upper case':
      return path.toUpperCase();
    case 'encoded letter':
      return path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    case 'dot segment':
      return `/x/..${path}`;
    case 'encoded slash':
      return path.replace(/(.)\//, '$1%2F');
    case 'semicolon':
      return `${path};x=1`;
    case 'fragment':
      return `${path}#x`;
    case 'absolute':
      return `http://127.0.0.1${path}`;
    case 'absolute of another host':
      return `http://evil.example:80${path}`;
    case 'broken percent':
      return `${path}%`;
    case 'broken host':
      return 'http://[';
    case 'star':
      return '*';
  }
}
