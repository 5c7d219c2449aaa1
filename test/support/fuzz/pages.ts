import fc from 'fast-check';
import type { Json, Operation } from './document.ts';
import { fromPool } from './references.ts';

const UUID = { type: 'string', format: 'uuid' };

/** Pages and files that the OpenAPI document does not list, in the form of its operations. */
export const pages: readonly Operation[] = [
  page('showConsent', 'GET', '/connect/{request_id}'),
  page('actOnConsent', 'POST', '/connect/{request_id}'),
  page('showCallback', 'GET', '/connect/callback'),
  page('readFront', 'GET', '/'),
  page('readDocument', 'GET', '/openapi.json'),
  page('readDocs', 'GET', '/docs'),
];

function page(id: string, method: string, path: string): Operation {
  const parameters = path.includes('{') ? [{ name: 'request_id', in: 'path' as const, schema: UUID }] : [];
  const body = method === 'POST' ? {} : undefined;
  return {
    id,
    name: `${method} ${path}`,
    method,
    path,
    credential: 'none',
    parameters,
    body,
    allows: () => true,
  };
}

export function isPage({ id }: Operation): boolean {
  return pages.some((one) => one.id === id);
}

export interface ShownForm {
  attempt: string;
  cookie: string;
  csrf: string;
}

const BUTTONS = [
  'sign-in',
  'sign-up',
  'switch',
  'approve',
  'approve',
  'deny',
  '',
  '__proto__',
  'x'.repeat(20_000),
];
const CREDENTIALS = {
  email: fc.oneof(fromPool('emails'), fc.string({ unit: 'binary', maxLength: 300 })),
  password: fc.oneof(fromPool('passwords'), fc.string({ unit: 'binary', maxLength: 210 })),
  invite_code: fc.string(),
};

/** Fields of a posted form. Most have `shown`, which refers to a form that was shown to a browser. */
export const forms = fc.record(
  { shown: fromPool('shown'), do: fc.constantFrom(...BUTTONS), ...CREDENTIALS },
  { requiredKeys: ['do', 'email'], noNullPrototype: true },
) as fc.Arbitrary<Json>;

export function encodeForm(fields: Json): { text: string; browser: ShownForm | undefined } {
  const { shown, ...others } = (fields ?? {}) as Record<string, Json>;
  const browser = typeof shown === 'object' ? (shown as unknown as ShownForm) : undefined;
  const pairs = Object.entries({ ...others, ...(browser && { csrf: browser.csrf }) });
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return { text, browser };
}

export function shownBy(target: string, cookie: string, text: string): ShownForm | undefined {
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1];
  const attempt = /\/connect\/([^/?#]+)/.exec(target)?.[1];
  return csrf && attempt ? { attempt, cookie: cookie.split(';')[0] ?? '', csrf } : undefined;
}

export function pageFault({ status, text }: { status: number; text: string }): string | undefined {
  if (status >= 500 && status !== 503) return `status ${status}`;
  return /\bat \w+ \(|node_modules|select .* from /i.test(text) && !text.startsWith('{"openapi"')
    ? 'an answer shows its inside'
    : undefined;
}
