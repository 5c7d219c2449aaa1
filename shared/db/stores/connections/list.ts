import type { EntityManager, Loaded } from '@mikro-orm/postgresql';
import type { ConnectionSummary } from '../../../schemas/connections.ts';
import { CONNECTIONS_MAX } from '../../../schemas/limits.ts';
import { Connection } from '../../entities/connection.ts';

/** The account's connections, newest first, revoked ones included. */
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

/** The latest connections, of an app or an account where one is given, newest first, revoked ones included. */
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
