import type { Pool } from 'pg';
import { query } from '../../statement.ts';

const DETACH = {
  name: 'detach_v1',
  text: `
    with left_alone as (
      select id from predictions
       where id = any ($1::uuid[]) and state in ('queued', 'running') order by id for update
    ), detached as (
      update predictions p
         set waiters = array_remove(p.waiters, $2::uuid),
             detached_at = case when array_remove(p.waiters, $2::uuid) = '{}' then now() end
        from left_alone l where p.id = l.id
      returning p.id, p.app_id as "appId", p.month, p.detached_at, p.cancel_on_disconnect
    )
    select id, "appId", month from detached where detached_at is not null and cancel_on_disconnect`,
};

interface Detached {
  id: string;
  appId: string;
  month: string;
}

/**
 * Says that this ingress has no caller left that waits for these predictions. In the place of each id that nobody at
 * all waits for any more, and whose callers wanted it cancelled then, stands the prediction.
 */
export async function detach(pool: Pool, ids: string[], process: string): Promise<(Detached | undefined)[]> {
  const unwanted = await query<Detached>(pool, DETACH, [ids, process]);
  return ids.map((id) => unwanted.find((one) => one.id === id));
}
