import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../../shared/db/entities/account.ts';
import { isInvite } from '../../../shared/db/stores/invites.ts';
import { revokeRefreshToken } from '../../../shared/db/stores/refresh-tokens.ts';
import { addToWaitlist } from '../../../shared/db/stores/waitlist.ts';
import {
  AccessResponse,
  InviteRequest,
  InviteResponse,
  LoginRequest,
  LoginResponse,
  LogoutResponse,
  RefreshRequest,
  SignupRequest,
  WaitlistRequest,
  WaitlistResponse,
} from '../../../shared/schemas/accounts.ts';
import type { AccountService } from '../../account-service.ts';
import { type Endpoint, endpoint } from '../../endpoint.ts';
import { presentUser } from './present-account.ts';

export interface AuthRoutes {
  em: () => EntityManager;
  accounts: AccountService;
}

/** How a person comes to an account, and from an account to tokens. */
export function authEndpoints({ em, accounts }: AuthRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/api/auth/signup/',
      operationId: 'signUp',
      tag: 'Accounts',
      summary: 'Create an account',
      auth: 'none',
      body: SignupRequest,
      errors: ['email_taken', 'invite_required', 'overloaded'],
      status: 201,
      response: LoginResponse,
    }).handle(async ({ body, address, signal }) => {
      const { invite_code: inviteCode, name = '', ...given } = body;
      const account = await accounts.signUp({ ...given, name, inviteCode, address }, signal);
      return { body: await loggedIn(account) };
    }),

    endpoint({
      method: 'POST',
      path: '/api/auth/login/',
      operationId: 'logIn',
      tag: 'Accounts',
      summary: 'Log in with e-mail address and password',
      description: 'The access token is good for an hour, the refresh token for 30 days.',
      auth: 'none',
      body: LoginRequest,
      errors: ['invalid_credentials', 'rate_limited', 'overloaded'],
      status: 200,
      response: LoginResponse,
    }).handle(async ({ body, address, signal }) => ({
      body: await loggedIn(await accounts.signIn({ ...body, address }, signal)),
    })),

    endpoint({
      method: 'POST',
      path: '/api/auth/logout/',
      operationId: 'logOut',
      tag: 'Accounts',
      summary: 'End a refresh token of the account',
      auth: 'user',
      body: RefreshRequest,
      errors: [],
      status: 200,
      response: LogoutResponse,
    }).handle(async ({ user, body }) => {
      await revokeRefreshToken(em(), user.id, body.refresh);
      return { body: { status: 'logged_out' } };
    }),

    endpoint({
      method: 'POST',
      path: '/api/auth/token/refresh/',
      operationId: 'refreshToken',
      tag: 'Accounts',
      summary: 'Get a new access token',
      auth: 'none',
      body: RefreshRequest,
      errors: ['not_authenticated'],
      status: 200,
      response: AccessResponse,
    }).handle(async ({ body }) => ({ body: { access: await accounts.renew(body.refresh) } })),

    endpoint({
      method: 'POST',
      path: '/api/auth/invite/validate/',
      operationId: 'validateInvite',
      tag: 'Accounts',
      summary: 'Is this invite code good for signing up?',
      auth: 'none',
      body: InviteRequest,
      errors: [],
      status: 200,
      response: InviteResponse,
    }).handle(async ({ body }) => ({ body: { valid: await isInvite(em(), body.code) } })),

    endpoint({
      method: 'POST',
      path: '/api/auth/waitlist/',
      operationId: 'joinWaitlist',
      tag: 'Accounts',
      summary: 'Put an e-mail address on the waitlist',
      auth: 'none',
      body: WaitlistRequest,
      errors: [],
      status: 200,
      response: WaitlistResponse,
    }).handle(async ({ body }) => {
      await addToWaitlist(em(), body.email);
      return { body: { status: 'added' } };
    }),
  ];

  async function loggedIn(account: Account): Promise<LoginResponse> {
    return { ...(await accounts.tokensOf(account)), user: presentUser(account) };
  }
}
