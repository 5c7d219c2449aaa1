import type { EntityManager } from '@mikro-orm/postgresql';
import pg, { type Pool } from 'pg';
import { openDatabase } from '../../shared/db/orm.ts';
import { createLog } from '../../shared/log.ts';
import { install } from '../installation.ts';
import { openPostgres } from '../stores.ts';

/** Opens a database for the bench only: `pool` connects like the service, `filler` without the service's limits. */
export async function openMemory(
  resources: AsyncDisposableStack,
): Promise<{ pool: Pool; em: () => EntityManager; filler: Pool; server: string }> {
  const postgres = resources.use(await openPostgres());
  const { databaseUrl } = resources.use(await install(postgres.url, 'bench'));
  const database = { url: databaseUrl, directUrl: databaseUrl, poolSize: 1 };
  const { pool, orm, close } = await openDatabase({ database }, createLog('bench', 'warn'), 'forecue bench');
  resources.defer(close);
  const filler = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  resources.defer(() => filler.end());
  return { pool, em: () => orm.em.fork(), filler, server: `PostgreSQL ${postgres.facts['server_version']}` };
}
