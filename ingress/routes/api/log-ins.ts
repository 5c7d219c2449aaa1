import { endLogIn, endOtherLogIns, listLogIns } from '../../../shared/db/stores/own-log-ins.ts';
import { requireLogin } from '../../../shared/domain/account.ts';
import { LogInList } from '../../../shared/schemas/accounts.ts';
import { presentLogIn } from '../../accounts/present.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

const ending = {
  tag: 'Accounts',
  login: 'any',
  scopes: [],
  inTurn: 'account',
  changes: 'account',
  status: 204,
} as const;

export const listOwnLogIns = endpoint('user', {
  operationId: 'listOwnLogIns',
  tag: 'Accounts',
  summary: 'The log-ins of the account, the latest used first',
  description:
    '`current` is true for the log-in of the access token. `client` and `system` are what its `User-Agent` said at the log-in. `last_used_at` is its last renewal, after which an access token lasts up to an hour. Browsers that are signed in to the consent page are not listed.',
  response: LogInList,
}).handle(async ({ user }, { em }: Parts) => ({
  body: { results: (await listLogIns(em(), user.id)).map((one) => presentLogIn(one, user.login?.id)) },
}));

export const endOneLogIn = endpoint('user', {
  ...ending,
  operationId: 'endOneLogIn',
  summary: 'End a log-in',
  description:
    'Its refresh token ends at once, its access tokens within two seconds. Needs an access token. A key is not enough.',
  params: { id: 'uuid' },
}).handle(async ({ user, params }, { em }: Parts) => {
  await endLogIn(em(), user.id, requireLogin(user), params.id);
});

export const endAllOtherLogIns = endpoint('user', {
  ...ending,
  operationId: 'endAllOtherLogIns',
  summary: 'End every log-in but this one',
  description:
    'Ends them with their access tokens, and signs browsers out of the consent page. Needs an access token. A key is not enough.',
}).handle(async ({ user }, { em }: Parts) => {
  await endOtherLogIns(em(), user.id, requireLogin(user));
});
