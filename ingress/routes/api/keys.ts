import { ServiceKey } from '../../../shared/db/entities/account.ts';
import {
  countBrought,
  issueServiceKey,
  listServiceKeys,
  revokeServiceKey,
} from '../../../shared/db/stores/service-keys.ts';
import {
  KeyList,
  KeyListQuery,
  KeyRequest,
  KeyResponse,
  type ListedKey,
  NewKeyResponse,
  SCOPES,
} from '../../../shared/schemas/accounts.ts';
import { SMALL_BODY_BYTES_MAX } from '../../../shared/schemas/limits.ts';
import { dateOf } from '../../../shared/schemas/moment.ts';
import { presentKey } from '../../accounts/present.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const listKeys = endpoint('user', {
  operationId: 'listKeys',
  tag: 'Accounts',
  summary: 'The keys of the account, the newest first',
  description:
    'A page has as many keys as an account may have; older accounts may have more, to which the header `Link` leads. With `brought=true` each has `brought`: of what is still kept, how many messages, predictions, permissions and decisions came with it.',
  query: KeyListQuery,
  response: KeyList,
  responseHeaders: ['Link'],
}).handle(async ({ user, query }, { em }: Parts) => {
  const { limit, brought } = query;
  const found = await listServiceKeys(em(), user.id, { limit: limit + 1, before: query.cursor });
  const keys = found.slice(0, limit);
  const next = new URLSearchParams({
    limit: String(limit),
    cursor: keys.at(-1)?.id ?? '',
    ...(brought && { brought }),
  });
  const headers: Record<string, string> = found.length > limit ? { Link: `<?${next}>; rel="next"` } : {};
  const ids = brought === 'true' ? keys.map(({ id }) => id) : [];
  const broughtBy = await countBrought(em(), user.id, ids);
  const results = keys.map((key): ListedKey => {
    const count = broughtBy.get(key.id);
    return { ...presentKey(key), ...(count && { brought: count }) };
  });
  return { body: { results }, headers };
});

export const issueKey = endpoint('user', {
  operationId: 'issueKey',
  changes: 'keys',
  tag: 'Accounts',
  summary: 'Issue a key',
  inTurn: 'account',
  description:
    'The only answer that has the key itself. Needs an access token. A key is not enough. `scopes` limits what the key may do; without `scopes` it may do everything, and answers contain no `scopes`. `threshold_floor` is the lowest threshold of the replies that it asks for. The key is unknown from `expires_at` on.',
  login: 'any',
  body: KeyRequest,
  bodyLimit: SMALL_BODY_BYTES_MAX,
  errors: ['quota_exceeded'],
  status: 201,
  response: NewKeyResponse,
}).handle(async ({ user, body }, { em }: Parts) => {
  const { label, scopes: requestedScopes, threshold_floor } = body;
  const expiresAt = body.expires_at === undefined ? null : dateOf(body.expires_at);
  const scopes = requestedScopes && SCOPES.filter((scope) => requestedScopes.includes(scope));
  const asked = {
    label,
    scopes: scopes ?? null,
    thresholdFloor: threshold_floor ?? null,
    expiresAt,
  };
  const { id, key, createdAt } = await issueServiceKey(em(), user, asked);
  const limits = {
    ...(scopes && { scopes }),
    ...(threshold_floor !== undefined && { threshold_floor }),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
  };
  return { body: { id, key, label, ...limits, created_at: createdAt.toISOString() } };
});

export const readKey = endpoint('user', {
  operationId: 'readKey',
  tag: 'Accounts',
  summary: 'One key',
  params: { key_id: 'uuid' },
  response: KeyResponse,
}).handle(async ({ user, params }, { em }: Parts) => ({
  body: presentKey(await em().findOneOrFail(ServiceKey, { id: params.key_id, account: user.id })),
}));

export const revokeKey = endpoint('user', {
  operationId: 'revokeKey',
  changes: 'keys',
  tag: 'Accounts',
  scopes: [],
  summary: 'Revoke a key',
  inTurn: 'account',
  params: { key_id: 'uuid' },
  status: 204,
}).handle(async ({ user, params }, { em }: Parts) => {
  await revokeServiceKey(em(), user.id, params.key_id);
});
