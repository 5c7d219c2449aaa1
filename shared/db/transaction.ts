import type { EntityManager } from '@mikro-orm/postgresql';
import { retry } from '../timing/retry.ts';
import { ON_CONFLICT } from './retries.ts';

/**
 * Runs `work` in a transaction, again from its beginning when another one got in its way (40001, 40P01). The only place
 * that opens one.
 */
export function transaction<T>(em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  return retry(() => em.fork().transactional(work), ON_CONFLICT);
}
