import type { Pool } from 'pg';
import type { Memory } from '../../../domain/memory.ts';
import { FACTS_DEFAULT } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';

/** The memory that a connection gives a prediction, and its revisions. */
export interface ConnectedMemory {
  /** Null when the account was erased. */
  memory: Memory | null;
  profileRevision: string;
  grantRevision: number;
}

const CONNECTED = {
  name: 'connected_memory_v2',
  text: `
    select c.grant_revision as "grantRevision",
           coalesce(profile_revision(a.id, a.memory_revision), 'none') as "profileRevision",
           case when a.id is not null then json_build_object(
             'profile', (select json_build_object('summary', o.summary, 'data', o.data) from profiles o where o.account_id = a.id),
             'facts', coalesce((
               select json_agg(f.text order by f.pinned desc, f.confidence desc, f.id desc) from (
                 select f.* from facts f
                  where f.account_id = a.id and f.superseded_by is null and f.stale_at is null
                    and (f.valid_from is null or f.valid_from <= now()) and (f.valid_to is null or f.valid_to > now())
                  order by f.pinned desc, f.confidence desc, f.id desc limit ${FACTS_DEFAULT}) f), '[]')) end as memory
      from connections c left join accounts a on a.id = c.account_id
     where c.id = $1::uuid`,
};

/** Reads memory and revisions in one snapshot: the revisions in an answer are those that were used. */
export async function readConnectedMemory(pool: Pool, connectionId: string): Promise<ConnectedMemory> {
  const [row] = await query<ConnectedMemory>(pool, CONNECTED, [connectionId]);
  return row ?? { memory: null, profileRevision: 'none', grantRevision: 0 };
}
