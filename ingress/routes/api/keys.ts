import type { EntityManager } from '@mikro-orm/postgresql';
import {
  findServiceKey,
  issueServiceKey,
  listServiceKeys,
  revokeServiceKey,
} from '../../../shared/db/stores/service-keys.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { KeyList, KeyRequest, KeyResponse, NewKeyResponse } from '../../../shared/schemas/accounts.ts';
import { type Endpoint, endpoint } from '../../endpoint.ts';
import { presentKey } from './present-account.ts';

export interface KeyRoutes {
  em: () => EntityManager;
}

/** A person's long-lived keys. */
export function keyEndpoints({ em }: KeyRoutes): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/auth/keys/',
      operationId: 'listKeys',
      tag: 'Accounts',
      summary: 'The keys of the account',
      auth: 'user',
      errors: [],
      status: 200,
      response: KeyList,
    }).handle(async ({ user }) => ({
      body: { results: (await listServiceKeys(em(), user.id)).map(presentKey) },
    })),

    endpoint({
      method: 'POST',
      path: '/api/auth/keys/',
      operationId: 'issueKey',
      tag: 'Accounts',
      summary: 'Issue a key',
      description: 'The only answer that has the key itself.',
      auth: 'user',
      body: KeyRequest,
      errors: [],
      status: 201,
      response: NewKeyResponse,
    }).handle(async ({ user, body: { label } }) => {
      const issued = await issueServiceKey(em(), user.id, label);
      if (issued === undefined) throw new AppError('not_authenticated');
      const { id, key, createdAt } = issued;
      return { body: { id, key, label, created_at: createdAt.toISOString() } };
    }),

    endpoint({
      method: 'GET',
      path: '/api/auth/keys/:key_id/',
      operationId: 'readKey',
      tag: 'Accounts',
      summary: 'One key',
      params: { key_id: 'uuid' },
      auth: 'user',
      errors: ['not_found'],
      status: 200,
      response: KeyResponse,
    }).handle(async ({ user, params }) => {
      const key = await findServiceKey(em(), user.id, params.key_id);
      if (key === undefined) throw new AppError('not_found');
      return { body: presentKey(key) };
    }),

    endpoint({
      method: 'DELETE',
      path: '/api/auth/keys/:key_id/',
      operationId: 'revokeKey',
      tag: 'Accounts',
      summary: 'Revoke a key',
      params: { key_id: 'uuid' },
      auth: 'user',
      errors: ['not_found'],
      status: 204,
    }).handle(async ({ user, params }) => {
      if (!(await revokeServiceKey(em(), user.id, params.key_id))) throw new AppError('not_found');
      return {};
    }),
  ];
}
