import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import {
  CONNECTION_USES_MAX,
  type ConnectionDetail,
  type ConnectionSummary,
} from '../../../schemas/connections.ts';
import { CONNECTIONS_MAX, TOMBSTONE_DAYS } from '../../../schemas/limits.ts';
import { Connection } from '../../entities/connection.ts';

/** Lists the latest connections, newest first, including revoked ones. */
export async function listConnections(em: EntityManager, accountId: string): Promise<ConnectionSummary[]> {
  const options = { orderBy: { id: 'desc' }, populate: ['app'], limit: CONNECTIONS_MAX } as const;
  const connections = await em.find(Connection, { account: accountId }, options);
  return connections.map(({ id, app, status, createdAt }) => ({
    connection_id: id,
    app_name: app.name,
    status,
    created_at: createdAt.toISOString(),
  }));
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
  const where = { id, account: accountId };
  const { app, status, createdAt, grantRevision, memory, projects, endsAt } = await em.findOneOrFail(
    Connection,
    where,
    {
      populate: ['app'],
    },
  );
  const [used] = await em.execute<{ predictions: number; suggested: number; lastMs: number | null }[]>(
    `select count(*)::int as predictions, (count(*) filter (where state = 'suggested'))::int as suggested,
            (extract(epoch from max(admitted_at)) * 1000)::float8 as "lastMs"
       from (select state, admitted_at, report from history
              where connection_id = ? and admitted_at > now() - interval '${TOMBSTONE_DAYS} days'
              order by admitted_at desc limit ${CONNECTION_USES_MAX}) h
      where (report::json ->> 'grantRevision')::int = ?`,
    [id, grantRevision],
  );
  const { predictions = 0, suggested = 0, lastMs = null } = used ?? {};
  return {
    connection_id: id,
    app_name: app.name,
    status,
    created_at: createdAt.toISOString(),
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
  const where = { ...(app !== undefined && { app }), ...(account !== undefined && { account }) };
  return em.find(Connection, where, {
    orderBy: { id: 'desc' },
    populate: ['app', 'account'],
    limit: CONNECTIONS_MAX,
  });
}
