import { listPasskeys, removePasskey, renamePasskey } from '../../../shared/db/stores/passkeys.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import {
  NewPasskeyRequest,
  PasskeyChange,
  PasskeyCreation,
  PasskeyList,
  PasskeyResponse,
} from '../../../shared/schemas/passkeys.ts';
import { presentPasskey } from '../../accounts/present.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

const changing = { tag: 'Accounts', scopes: [], inTurn: 'account', changes: 'account' } as const;

export const listOwnPasskeys = endpoint('user', {
  operationId: 'listPasskeys',
  tag: 'Accounts',
  summary: 'The passkeys of the account, the oldest first',
  response: PasskeyList,
}).handle(async ({ user }, { em }: Parts) => ({
  body: { results: (await listPasskeys(em(), user.id)).map(presentPasskey) },
}));

export const startPasskey = endpoint('user', {
  operationId: 'startPasskey',
  tag: 'Accounts',
  summary: 'Options to make a passkey with',
  description:
    'For `navigator.credentials.create()`, on a page of the server itself. The challenge is good for five minutes. Needs an access token of a log-in within the last ten minutes.',
  login: 'fresh',
  scopes: [],
  inTurn: 'account',
  response: PasskeyCreation,
}).handle(async ({ user }, { passkeys }: Parts) => ({ body: await passkeys.startRegistration(user) }));

export const addPasskey = endpoint('user', {
  ...changing,
  operationId: 'addPasskey',
  summary: 'Add a passkey, to log in with beside the password',
  description:
    '`credential` is the JSON of what the authenticator answered. Needs an access token of a log-in within the last ten minutes.',
  login: 'fresh',
  body: NewPasskeyRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['quota_exceeded'],
  status: 201,
  response: PasskeyResponse,
}).handle(async ({ user, body: { name, credential } }, { passkeys }: Parts) => ({
  body: presentPasskey(await passkeys.register(user, name, credential)),
}));

export const renameOwnPasskey = endpoint('user', {
  ...changing,
  operationId: 'renamePasskey',
  summary: 'Rename a passkey',
  params: { id: 'uuid' },
  body: PasskeyChange,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  response: PasskeyResponse,
}).handle(async ({ user, params, body }, { em }: Parts) => ({
  body: presentPasskey(await renamePasskey(em(), user.id, params.id, body.name)),
}));

export const removeOwnPasskey = endpoint('user', {
  ...changing,
  operationId: 'removePasskey',
  summary: 'Remove a passkey, which logs in no more',
  description: 'Log-ins that it began go on.',
  params: { id: 'uuid' },
  status: 204,
}).handle(async ({ user, params }, { em }: Parts) => {
  await removePasskey(em(), user.id, params.id);
});
