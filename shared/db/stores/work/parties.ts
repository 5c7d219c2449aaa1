import type { Pool } from 'pg';
import { query } from '../../statement.ts';

const STANDING = {
  name: 'standing_party_v1',
  text: `select 1 from accounts where id = $1::uuid and erasing_at is null union all select 1 from apps where id = $1::uuid`,
};

/** Whether a party whose work was admitted is an account that has been erased since, or is being erased. */
export async function isErased(pool: Pool, party: string): Promise<boolean> {
  const standing = await query<object>(pool, STANDING, [party]);
  return standing.length === 0;
}
