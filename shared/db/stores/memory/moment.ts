import type { EntityManager } from '@mikro-orm/postgresql';

/** The moment of the database's clock, as `promotedBefore` takes it. */
export async function momentNow(em: EntityManager): Promise<string> {
  const [row] = await em.execute<{ now: string }[]>(`select date_trunc('milliseconds', now())::text as now`);
  return row?.now ?? '';
}
