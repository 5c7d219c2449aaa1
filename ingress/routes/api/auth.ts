import { isInvite } from '../../../shared/db/stores/invites.ts';
import { revokeRefreshToken } from '../../../shared/db/stores/log-ins.ts';
import {
  AccessResponse,
  InviteRequest,
  InviteResponse,
  LoginRequest,
  LoginResponse,
  LogoutRequest,
  LogoutResponse,
  RefreshRequest,
  SignupRequest,
  WaitlistRequest,
  WaitlistResponse,
} from '../../../shared/schemas/accounts.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const signUp = endpoint('none', {
  operationId: 'signUp',
  tag: 'Accounts',
  summary: 'Create an account',
  body: SignupRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['email_taken', 'invite_required', 'overloaded'],
  status: 201,
  response: LoginResponse,
}).handle(async ({ body, address, headers, signal }, { accounts }: Parts) => {
  const { invite_code: inviteCode, name = '', ...credentials } = body;
  const account = await accounts.signUp({ ...credentials, name, inviteCode, address }, signal);
  return { body: await accounts.logIn(account, headers, signal) };
});

export const logIn = endpoint('none', {
  operationId: 'logIn',
  tag: 'Accounts',
  summary: 'Log in with e-mail address and password',
  description: 'The access token is good for an hour, the refresh token for 30 days.',
  body: LoginRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['invalid_credentials', 'overloaded'],
  response: LoginResponse,
}).handle(async ({ body, address, headers, signal }, { accounts }: Parts) => ({
  body: await accounts.logIn(await accounts.signIn({ ...body, address }, signal), headers, signal),
}));

export const logOut = endpoint('user', {
  operationId: 'logOut',
  changes: 'account',
  tag: 'Accounts',
  summary: 'End a refresh token of the account, or all of its log-ins',
  inTurn: 'account',
  description:
    'With `refresh` that token ends; access tokens live on to the end of their hour. With `all: true` every refresh and access ' +
    'token ends, that of this request too, and every browser is signed out; keys stay. A key alone may not do that.',
  body: LogoutRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  response: LogoutResponse,
}).handle(async ({ user, body: { refresh, all } }, { em, accounts }: Parts) => {
  if (all) await accounts.logOutEverywhere(user);
  else if (refresh !== undefined) await revokeRefreshToken(em(), user.id, refresh);
  return { body: { status: 'logged_out' } };
});

export const refreshToken = endpoint('none', {
  operationId: 'refreshToken',
  tag: 'Accounts',
  summary: 'Get a new access token',
  body: RefreshRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['not_authenticated'],
  response: AccessResponse,
}).handle(async ({ body }, { accounts }: Parts) => ({
  body: { access: (await accounts.renew(body.refresh)).access },
}));

export const validateInvite = endpoint('none', {
  operationId: 'validateInvite',
  tag: 'Accounts',
  summary: 'Is this invite code good for signing up?',
  body: InviteRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  response: InviteResponse,
}).handle(async ({ body }, { em }: Parts) => ({ body: { valid: await isInvite(em(), body.code) } }));

export const joinWaitlist = endpoint('none', {
  operationId: 'joinWaitlist',
  tag: 'Accounts',
  summary: 'Put an e-mail address on the waitlist',
  body: WaitlistRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['overloaded'],
  response: WaitlistResponse,
}).handle(async ({ body, address }, { joinWaitlist }: Parts) => {
  await joinWaitlist(body.email, address);
  return { body: { status: 'added' } };
});
