import type { EntityManager } from '@mikro-orm/postgresql';
import { retry } from '../timing/retry.ts';
import { RETRY_ON_CONFLICT } from './retries.ts';

/**
 * Runs `work` in a transaction. After a conflict with another one (40001, 40P01), runs it again from the beginning, a
 * few times at most.
 */
export function transaction<T>(em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  return retry(() => em.fork().transactional(work), RETRY_ON_CONFLICT);
}
