import type { Pool } from 'pg';
import type { QueueSnapshot } from '../../../domain/load.ts';
import { query } from '../../statement.ts';

const QUEUE_STATE = {
  name: 'queue_state_v1',
  text: `select app_id as "appId", (count(*) filter (where state = 'queued'))::int as queued,
                (extract(epoch from now() - min(admitted_at) filter (where state = 'queued')) * 1000)::float8 as "oldestMs",
                (select coalesce(sum(w.claimed), 0)::float8 from processes w
                  where w.kind = 'worker' and w.alive_until > now()) as claimed
           from predictions where state in ('queued', 'running') group by app_id`,
};

interface QueueStateRow {
  appId: string;
  queued: number;
  oldestMs: number | null;
  claimed: number;
}

/** What waits and what runs, and how many predictions the living workers have taken since they started. */
export async function queueState(pool: Pool): Promise<Omit<QueueSnapshot, 'at'>> {
  const rows = await query<QueueStateRow>(pool, QUEUE_STATE, []);
  return {
    queuedByApp: new Map(rows.map(({ appId, queued }) => [appId, queued])),
    oldestMs: Math.max(0, ...rows.map(({ oldestMs }) => oldestMs ?? 0)),
    claimed: rows[0]?.claimed ?? 0,
  };
}
