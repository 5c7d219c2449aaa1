import { endRefreshToken, revokeRefreshToken } from '../../shared/db/stores/log-ins.ts';
import {
  ConsoleAccessResponse,
  LoginRequest,
  LoginResponse,
  LogoutRequest,
  LogoutResponse,
  RefreshRequest,
  SignupRequest,
} from '../../shared/schemas/accounts.ts';
import { SMALL_BODY_BYTES_MAX } from '../../shared/schemas/limits.ts';
import { PasskeyLogInRequest, PasskeyRequest } from '../../shared/schemas/passkeys.ts';
import { presentUser } from '../accounts/present.ts';
import type { RefreshCookie } from '../console/refresh-cookie.ts';
import { endpoint } from '../http/endpoint.ts';
import type { Parts } from './parts.ts';

/** Value of `refresh` in answers: the refresh token itself is only in the cookie. */
const IN_COOKIE = 'cookie';

export const signUpToConsole = endpoint('none', {
  operationId: 'signUpToConsole',
  tag: 'Console',
  summary: 'Create an account; the refresh token is in a cookie',
  body: SignupRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['access_denied', 'email_taken', 'invite_required', 'overloaded'],
  status: 201,
  response: LoginResponse,
  responseHeaders: ['Set-Cookie'],
}).handle(async ({ body, address, signal, headers }, { accounts, refreshCookie }: Parts) => {
  refreshCookie.requireOwnPage(headers);
  const { invite_code: inviteCode, name = '', ...credentials } = body;
  const account = await accounts.signUp({ ...credentials, name, inviteCode, address }, signal);
  return withCookie(await accounts.logIn(account, headers, signal), refreshCookie);
});

export const logInToConsole = endpoint('none', {
  operationId: 'logInToConsole',
  tag: 'Console',
  summary: 'Log in; the refresh token is in a cookie',
  body: LoginRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['access_denied', 'invalid_credentials', 'overloaded'],
  response: LoginResponse,
  responseHeaders: ['Set-Cookie'],
}).handle(async ({ body, address, signal, headers }, { em, accounts, refreshCookie }: Parts) => {
  const earlier = refreshCookie.read(headers);
  const account = await accounts.signIn({ ...body, address }, signal);
  // The new cookie replaces the earlier one, which nobody could end afterwards.
  if (earlier !== undefined) await endRefreshToken(em(), earlier);
  return withCookie(await accounts.logIn(account, headers, signal), refreshCookie);
});

export const startPasskeyLogIn = endpoint('none', {
  operationId: 'startPasskeyLogIn',
  tag: 'Console',
  summary: 'Options to log in with a passkey',
  description: 'For `navigator.credentials.get()`. The challenge works once, for five minutes.',
  errors: ['access_denied', 'service_unavailable'],
  response: PasskeyRequest,
}).handle(async ({ address, headers }, { passkeys, refreshCookie }: Parts) => {
  refreshCookie.requireOwnPage(headers);
  return { body: await passkeys.startLogIn(address) };
});

export const logInWithPasskey = endpoint('none', {
  operationId: 'logInWithPasskey',
  tag: 'Console',
  summary: 'Log in with a passkey; the refresh token is in a cookie',
  body: PasskeyLogInRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['access_denied', 'invalid_credentials', 'overloaded'],
  response: LoginResponse,
  responseHeaders: ['Set-Cookie'],
}).handle(async ({ body, address, signal, headers }, { em, accounts, passkeys, refreshCookie }: Parts) => {
  const earlier = refreshCookie.read(headers);
  const account = await passkeys.check(body.credential, address);
  if (earlier !== undefined) await endRefreshToken(em(), earlier);
  return withCookie(await accounts.logIn(account, headers, signal), refreshCookie);
});

export const refreshConsole = endpoint('none', {
  operationId: 'refreshConsole',
  tag: 'Console',
  summary: 'Get a new access token for the refresh token in the cookie, and whose it is',
  description: 'The value of `refresh` is ignored.',
  body: RefreshRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['access_denied', 'not_authenticated'],
  response: ConsoleAccessResponse,
}).handle(async ({ headers }, { accounts, refreshCookie }: Parts) => {
  const { access, account } = await accounts.renew(refreshCookie.read(headers) ?? '');
  return { body: { access, user: presentUser(account) } };
});

export const logOutOfConsole = endpoint('user', {
  operationId: 'logOutOfConsole',
  changes: 'account',
  tag: 'Console',
  summary: 'End the refresh token in the cookie, or all log-ins of the account',
  description: 'The value of `refresh` is ignored.',
  inTurn: 'account',
  body: LogoutRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['access_denied'],
  response: LogoutResponse,
  responseHeaders: ['Set-Cookie'],
}).handle(async ({ user, body, headers }, { em, accounts, refreshCookie }: Parts) => {
  const refresh = refreshCookie.read(headers);
  if (body.all) await accounts.logOutEverywhere(user);
  else if (refresh !== undefined) await revokeRefreshToken(em(), user.id, refresh);
  return { body: { status: 'logged_out' }, headers: refreshCookie.clearCookieHeader() };
});

function withCookie(login: LoginResponse, refreshCookie: RefreshCookie) {
  return { body: { ...login, refresh: IN_COOKIE }, headers: refreshCookie.setCookieHeader(login.refresh) };
}
