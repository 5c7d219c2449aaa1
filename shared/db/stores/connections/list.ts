import type { EntityManager } from '@mikro-orm/postgresql';
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
