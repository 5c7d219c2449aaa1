import type { CredentialKind } from './document.ts';

export type Header = [name: string, value: string];

export interface Credentials {
  bearer: string;
  key: string;
  /** A good credential for the other API. */
  other: string;
}

const authorize = (value: string): Header[] => [['Authorization', value]];

/** Forms of a credential, as headers. */
export const CREDENTIAL_FORMS = {
  none: () => [],
  'other kind': ({ other }) => authorize(`Bearer ${other}`),
  basic: ({ bearer }) => authorize(`Basic ${Buffer.from(`x:${bearer}`).toString('base64')}`),
  'no scheme': ({ bearer }) => authorize(bearer),
  cut: ({ bearer }) => authorize(`Bearer ${bearer.slice(0, -1)}`),
  changed: ({ bearer }) =>
    authorize(`Bearer ${bearer.slice(0, 10)}${bearer[10] === 'x' ? 'y' : 'x'}${bearer.slice(11)}`),
  'with more': ({ bearer }) => authorize(`Bearer ${bearer}, Bearer ${bearer}`),
  unsigned: ({ bearer }) =>
    authorize(`Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${bearer.split('.')[1] ?? ''}.`),
  'empty key': ({ bearer }) => [...authorize(`Bearer ${bearer}`), ['X-Service-API-Key', '']],
  'lower case scheme': ({ bearer }) => authorize(`bearer ${bearer}`),
  'two spaces': ({ bearer }) => authorize(`Bearer  ${bearer}`),
  key: ({ key }, kind) => (kind === 'user' ? [['X-Service-API-Key', key]] : authorize(`Bearer ${key}`)),
} satisfies Record<string, (credentials: Credentials, kind: CredentialKind) => Header[]>;
export type CredentialForm = keyof typeof CREDENTIAL_FORMS;

const GOOD_FORMS: Record<CredentialKind, readonly CredentialForm[]> = {
  app: ['lower case scheme', 'two spaces', 'empty key'],
  user: ['lower case scheme', 'two spaces', 'key'],
  none: [],
};

/** Returns the headers of a credential in this form, or in the usual one, and whether it must be accepted. */
export function credentialHeaders(
  kind: CredentialKind,
  credentials: Credentials,
  form: CredentialForm | undefined,
): { headers: Header[]; authorized: boolean } {
  if (kind === 'none') return { headers: [], authorized: true };
  if (form === undefined) return { headers: authorize(`Bearer ${credentials.bearer}`), authorized: true };
  return { headers: CREDENTIAL_FORMS[form](credentials, kind), authorized: GOOD_FORMS[kind].includes(form) };
}

export const PATH_FORMS = {
  'other slash': (path) => (path.endsWith('/') ? path.slice(0, -1) : `${path}/`),
  'double slash': (path) => `/${path}`,
  'upper case': (path) => path.toUpperCase(),
  'encoded letter': (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  'dot segment': (path) => `/x/..${path}`,
  'encoded slash': (path) => path.replace(/(.)\//, '$1%2F'),
  semicolon: (path) => `${path};x=1`,
  fragment: (path) => `${path}#x`,
  absolute: (path) => `http://127.0.0.1${path}`,
  'absolute of another host': (path) => `http://evil.example:80${path}`,
  'broken percent': (path) => `${path}%`,
  'broken host': () => 'http://[',
  star: () => '*',
} satisfies Record<string, (path: string) => string>;
export type PathForm = keyof typeof PATH_FORMS;
