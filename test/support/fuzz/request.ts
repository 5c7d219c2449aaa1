import { applyByteEdit, PACKINGS } from './byte-edits.ts';
import type { Json, Operation } from './document.ts';
import { type Credentials, credentialHeaders, type Header, PATH_FORMS } from './forms.ts';
import { applyJsonEdits } from './json-edits.ts';
import { encodeForm, isPage, type ShownForm } from './pages.ts';
import type { Plan } from './plans.ts';
import { type Pools, resolveReferences } from './references.ts';
import type { Framing, Twist } from './twists.ts';
import type { WireForm } from './wire.ts';

export interface Request {
  operation: Operation;
  method: string;
  target: string;
  headers: Header[];
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

export function requestOf(plan: Plan, operation: Operation, at: Surroundings): Request {
  const { caller, twists } = plan;
  const form =
    operation.body !== undefined && isPage(operation)
      ? encodeForm(resolveReferences(plan.body, at))
      : undefined;
  const json =
    operation.body === undefined ? undefined : ((form && bytesAfter(twists, form.text)) ?? jsonOf(plan, at));
  const packing = find(twists, 'packing');
  const body = json && (packing === undefined ? json : PACKINGS[packing.packing](json));
  const { credential } = operation;
  const credentialForm = find(twists, 'credential')?.form;
  const { headers, authorized } = credentialHeaders(credential, at.credential(operation), credentialForm);
  const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
  const all: Header[] = [
    ['Host', '127.0.0.1'],
    ['X-Forwarded-For', addressOf(caller)],
    ...headers,
    ...Object.entries(plan.headers),
    ...(body === undefined ? [] : contentHeaders(twists, type)),
    ...(form?.browser === undefined ? [] : [['Cookie', form.browser.cookie] satisfies Header]),
  ];
  return {
    operation,
    method: find(twists, 'method')?.method ?? operation.method,
    target: targetOf(withAttempt(plan, form?.browser), operation, at),
    headers: withTwists(all, twists),
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

function contentHeaders(twists: readonly Twist[], usual: string): Header[] {
  const headers: Header[] = [
    ['Content-Type', find(twists, 'type')?.value ?? usual],
    ['Content-Encoding', find(twists, 'packing')?.header ?? ''],
  ];
  return headers.filter(([, value]) => value !== '');
}

function withTwists(headers: Header[], twists: readonly Twist[]): Header[] {
  const header = find(twists, 'header');
  if (header === undefined) return headers;
  return [...headers.filter(([name]) => name !== header.name), [header.name, header.value]];
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
    (odd === undefined ? filled : PATH_FORMS[odd.form](filled)) +
    (find(twists, 'query')?.raw ?? queryOf(query))
  );
}

function queryOf(query: Record<string, Json>): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  ).toString();
  return text === '' ? '' : `?${text}`;
}
