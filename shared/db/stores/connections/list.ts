import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import {
  CONNECTION_USES_MAX,
  type ConnectionDetail,
  type ConnectionSummary,
} from '../../../schemas/connections.ts';
import { CONNECTIONS_MAX, TOMBSTONE_DAYS } from '../../../schemas/limits.ts';
import { defined } from '../../../schemas/present.ts';
import { Connection } from '../../entities/connection.ts';
import { oneRow } from '../../rows.ts';

/** Lists the latest connections, newest first, including revoked ones. */
export async function listConnections(em: EntityManager, accountId: string): Promise<ConnectionSummary[]> {
  const options = { orderBy: { id: 'desc' }, populate: ['app'], limit: CONNECTIONS_MAX } as const;
  const connections = await em.find(Connection, { account: accountId }, options);
  return connections.map(summaryOf);
}

function summaryOf({ id, app, status, createdAt }: Loaded<Connection, 'app'>): ConnectionSummary {
  return { connection_id: id, app_name: app.name, status, created_at: createdAt.toISOString() };
}

/**
 * Reads a connection, and counts the predictions under its present grant among its latest `CONNECTION_USES_MAX`
 * predictions. Limits the predictions before it compares their grants, so that not all predictions of past grants are
 * read. Throws `not_found`.
 */
export async function readConnection(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<ConnectionDetail> {
  const found = await em.findOneOrFail(Connection, { id, account: accountId }, { populate: ['app'] });
  const { grantRevision, memory, projects, endsAt } = found;
  const used = em.execute<{ predictions: number; suggested: number; lastMs: number | null }[]>(
    `select count(*)::int as predictions, (count(*) filter (where state = 'suggested'))::int as suggested,
            (extract(epoch from max(admitted_at)) * 1000)::float8 as "lastMs"
       from (select state, admitted_at, report from history
              where connection_id = ? and admitted_at > now() - interval '${TOMBSTONE_DAYS} days'
              order by admitted_at desc limit ${CONNECTION_USES_MAX}) h
      where (report::json ->> 'grantRevision')::int = ?`,
    [id, grantRevision],
  );
  const { predictions, suggested, lastMs } = await oneRow(used);
  return {
    ...summaryOf(found),
    scope: { memory, ...(projects && { projects }) },
    ends_at: endsAt?.toISOString() ?? null,
    predictions,
    suggested,
    last_used_at: lastMs === null ? null : new Date(lastMs).toISOString(),
  };
}

/** Lists the latest connections, newest first, including revoked ones. */
export function listAllConnections(
  em: EntityManager,
  { app, account }: { app: string | undefined; account: string | undefined },
): Promise<Loaded<Connection, 'app' | 'account'>[]> {
  const latest = { orderBy: { id: 'desc' }, populate: ['app', 'account'], limit: CONNECTIONS_MAX } as const;
  return em.find(Connection, defined({ app, account }), latest);
}
