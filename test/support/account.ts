import type { LoginResponse } from '../../shared/schemas/accounts.ts';
import { Client, call, type Options, type Reply } from './client.ts';
import type { System } from './system.ts';
import { until } from './until.ts';

let people = 0;

export function someEmail(): string {
  people += 1;
  return `person-${process.pid}-${people}@example.com`;
}

export class UserClient extends Client {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly access: string;
  readonly refresh: string;

  constructor(
    part: Pick<UserClient, 'id' | 'email' | 'password' | 'access' | 'refresh'>,
    system: Pick<System, 'webs'>,
  ) {
    super(urlOf(system), part.access);
    this.id = part.id;
    this.email = part.email;
    this.password = part.password;
    this.access = part.access;
    this.refresh = part.refresh;
  }
}

export async function signUp(
  system: Pick<System, 'webs'>,
  part: { email?: string; password?: string; name?: string } = {},
): Promise<UserClient> {
  const person = { email: someEmail(), password: 'a horse with 9 staples', ...part };
  const { status, text, body } = await anonymously<LoginResponse>(
    system,
    'POST',
    '/api/auth/signup/',
    person,
  );
  if (status !== 201) throw new Error(`signing up was answered ${status} ${text}`);
  const { access, refresh, user } = body;
  return new UserClient({ ...person, id: user.id, access, refresh }, system);
}

/** Calls the first ingress, or `at`, with no credential unless the headers carry one. */
export function anonymously<Body>(
  system: Pick<System, 'webs'>,
  method: string,
  path: string,
  body?: object | string,
  { headers = {}, at = { url: urlOf(system) }, signal }: Options = {},
): Promise<Reply<Body>> {
  return call(method, at.url + path, body, { headers, signal });
}

export function logIn(
  system: Pick<System, 'webs'>,
  { email, password }: { email?: string | undefined; password?: string | undefined },
): Promise<Reply<LoginResponse>> {
  return anonymously(system, 'POST', '/api/auth/login/', { email, password });
}

export function renew(system: Pick<System, 'webs'>, refresh: string): Promise<Reply<{ access: string }>> {
  return anonymously(system, 'POST', '/api/auth/token/refresh/', { refresh });
}

/** Calls with a key of the account alone. */
export class KeyClient extends UserClient {
  readonly #key: string;

  constructor(person: UserClient, key: string) {
    super(person, { webs: [{ url: person.url }] } as unknown as Pick<System, 'webs'>);
    this.#key = key;
  }

  override request<Body>(
    method: string,
    path: string,
    body?: object | string,
    { headers, at = this, signal }: Options = {},
  ): Promise<Reply<Body>> {
    const all = { 'x-service-api-key': this.#key, ...headers };
    return call(method, at.url + path, body, { headers: all, signal });
  }
}

export async function clientWithKey(person: UserClient, scopes: readonly string[]): Promise<KeyClient> {
  return new KeyClient(person, await issueKey(person, scopes));
}

export async function issueKey(person: UserClient, scopes?: readonly string[]): Promise<string> {
  const body = { label: 'agent', ...(scopes && { scopes }) };
  return (await person.post<{ key: string }>('/api/auth/keys/', body)).body.key;
}

/** Reports whether an erasure, which goes on after its answer, has ended. */
export async function isGone(
  { database }: Pick<System, 'database'>,
  { id }: Pick<UserClient, 'id'>,
): Promise<boolean> {
  return (await database.pool.query('select from accounts where id = $1', [id])).rows.length === 0;
}

export async function eraseAccount(system: Pick<System, 'database'>, person: UserClient): Promise<void> {
  const { status, text } = await person.request('DELETE', '/api/auth/me/');
  if (status !== 204 || text !== '') throw new Error(`erasing was answered ${status} ${text}`);
  await until(() => isGone(system, person));
}

function urlOf({ webs: [first] }: Pick<System, 'webs'>): string {
  return first?.url ?? '';
}
