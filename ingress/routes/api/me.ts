import { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../../shared/db/entities/account.ts';
import { findAccount } from '../../../shared/db/stores/accounts.ts';
import type { UserPrincipal } from '../../../shared/domain/account.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { AccountChange, ExportLine, UserResponse } from '../../../shared/schemas/accounts.ts';
import { exportAccount } from '../../account-export.ts';
import type { AccountService } from '../../account-service.ts';
import type { EndingStores } from '../../ending-stores.ts';
import { type Endpoint, endpoint } from '../../endpoint.ts';
import { presentUser } from './present-account.ts';

export interface MeRoutes extends Pick<EndingStores, 'beginErasure' | 'continueErasure'> {
  em: () => EntityManager;
  accounts: AccountService;
}

/** Most accounts are erased in less. No longer than proxies wait for an answer, nor than calls may finish at a stop. */
const ERASE_WITHIN_MS = 15_000;

/** A person's own account. */
export function meEndpoints({ em, accounts, beginErasure, continueErasure }: MeRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/auth/me/',
      operationId: 'readAccount',
      tag: 'Accounts',
      summary: 'The account',
      auth: 'user',
      errors: [],
      status: 200,
      response: UserResponse,
    }).handle(async ({ user }) => ({ body: presentUser(await own(user)) })),

    endpoint({
      method: 'PATCH',
      path: '/api/auth/me/',
      operationId: 'changeAccount',
      tag: 'Accounts',
      summary: 'Change name or password',
      description: 'A new password needs `current_password`, and ends every refresh token.',
      auth: 'user',
      body: AccountChange,
      errors: ['access_denied', 'rate_limited', 'overloaded'],
      status: 200,
      response: UserResponse,
    }).handle(async ({ user, body, address, signal }) => {
      const { name, password, current_password: currentPassword } = body;
      const change = { name, password, currentPassword, address };
      return { body: presentUser(await accounts.change(user.id, change, signal)) };
    }),

    endpoint({
      method: 'DELETE',
      path: '/api/auth/me/',
      operationId: 'eraseAccount',
      tag: 'Accounts',
      summary: 'Erase the account and all that belongs to it',
      auth: 'user',
      errors: [],
      status: 204,
    }).handle(async ({ user }) => {
      if ((await beginErasure(user.id)) === undefined) throw new AppError('not_authenticated');
      // What is not erased by then is erased by the housekeeping, which also finishes for a process that died.
      await continueErasure(user.id, ERASE_WITHIN_MS);
      return {};
    }),

    endpoint({
      method: 'GET',
      path: '/api/export/',
      operationId: 'exportAccount',
      tag: 'Accounts',
      summary: 'Everything of the account, one JSON object a line',
      auth: 'user',
      errors: [],
      status: 200,
      response: ExportLine,
      responseType: 'application/x-ndjson',
    }).handle(async ({ user }) => ({ body: Readable.from(exportAccount(em, await own(user))) })),
  ];

  async function own({ id }: UserPrincipal): Promise<Account> {
    const account = await findAccount(em(), id);
    // Erased within the second for which its credential is remembered.
    if (account === undefined) throw new AppError('not_authenticated');
    return account;
  }
}
