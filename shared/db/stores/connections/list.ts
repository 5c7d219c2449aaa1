import type { EntityManager } from '@mikro-orm/postgresql';
import type { ConnectionSummary } from '../../../schemas/connections.ts';
import { Connection } from '../../entities/connection.ts';

/** The account's connections, revoked ones too, the newest first. */
export async function listConnections(em: EntityManager, accountId: string): Promise<ConnectionSummary[]> {
  const options = { orderBy: { id: 'desc' }, populate: ['app'] } as const;
  const connections = await em.find(Connection, { account: accountId }, options);
  return connections.map(({ id, app, status, createdAt }) => ({
    connection_id: id,
    app_name: app.name,
    status,
    created_at: createdAt.toISOString(),
  }));
}
