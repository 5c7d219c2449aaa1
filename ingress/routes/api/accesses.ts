import { accessCursor, listAccesses } from '../../../shared/db/stores/access-log.ts';
import { AccessList, AccessListQuery } from '../../../shared/schemas/accesses.ts';
import { presentAccess } from '../../accounts/present.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Parts } from '../parts.ts';

export const listOwnAccesses = endpoint('user', {
  operationId: 'listAccesses',
  tag: 'Own connections',
  summary: 'What was read of the account, by credential, tier and day, the latest day first',
  description:
    'Kept for 400 days. A day is one by UTC. It takes up to five seconds until a read is counted. `reader` is `log_in` for all log-ins of the person together. `reads` are calls that returned rows, and predictions that were made from some; `rows` is their number.',
  query: AccessListQuery,
  response: AccessList,
}).handle(async ({ user, query }, { em }: Parts) => {
  const { limit } = query;
  const found = await listAccesses(em(), user.id, { ...query, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { body: { results: rows.map(presentAccess), next: last ? accessCursor(last) : null } };
});
