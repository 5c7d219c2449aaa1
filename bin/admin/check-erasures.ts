import type { Pool } from 'pg';
import { isCopy } from '../../shared/db/place.ts';
import { countPendingErasures } from '../../shared/db/stores/erasures.ts';
import { type Finding, fault, fine } from './checks.ts';

/** Checks that nothing that people erased came back with a restored database. */
export async function checkErasures(pool: Pool): Promise<Finding> {
  const pending = await countPendingErasures(pool);
  if (pending > 0)
    return fault(`${pending} erasures of a restore are not done, and processes wait`, 'run `admin restored`');
  if (await isCopy(pool))
    return fault(
      'this database is a copy of another one, and what people erased there since may be here again',
      'run `admin restored` with --erasures or --replaces; with --keep-log-ins after a mere move or upgrade',
    );
  return fine('none of a restore is left to do');
}
