import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isSerializationConflict } from './faults.ts';

const MOST_TRIES = 4;

/**
 * Runs `work` in a transaction, again from its beginning when another one got in its way (40001, 40P01). The only place
 * that opens one.
 */
export async function transaction<T>(em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await em.fork().transactional(work);
    } catch (error) {
      if (!isSerializationConflict(error) || tries === MOST_TRIES) throw error;
      await sleep(Math.random() * 10 * 2 ** tries);
    }
  }
}
