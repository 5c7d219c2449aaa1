import type { Pool } from 'pg';
import { query } from '../../statement.ts';

/** The most pieces of a party that are counted. */
const MOST = 1000;

/** The live work of a party: up to 1,000 pieces of it. */
export interface PartyLoad {
  queued: number;
  running: number;
  /** How long the oldest queued piece has waited; null: none waits. */
  oldestS: number | null;
}

const READ = {
  name: 'party_load_v1',
  text: `
    select count(*) filter (where state = 'queued')::int as queued,
           count(*) filter (where state = 'running')::int as running,
           round(extract(epoch from clock_timestamp() - min(queued_at) filter (where state = 'queued')), 1)::float8 as "oldestS"
      from unnest($1::text[]) k (kind)
     cross join lateral (
       select state, queued_at from work where work.kind = k.kind and party = $2::uuid order by queued_at limit ${MOST}) w`,
};

/** Reads how much work of the party waits and runs. */
export async function readParty(pool: Pool, kinds: readonly string[], party: string): Promise<PartyLoad> {
  const [row] = await query<PartyLoad & object>(pool, READ, [kinds, party]);
  if (row === undefined) throw new Error('the database answered nothing');
  return row;
}
