import type { Pool } from 'pg';
import type { ProcessDescription } from './processes.ts';
import { query } from './statement.ts';

export interface LivingProcess {
  kind: string;
  settings: ProcessDescription;
  /** None for an ingress, and for a worker that only schedules. */
  pools: string[];
}

const LIVING_PROCESSES = {
  name: 'living_processes_v1',
  text: `select kind, settings, array(select jsonb_object_keys(pools)) as pools
           from processes where is_alive(alive_until) order by kind, id`,
};

export function livingProcesses(pool: Pool): Promise<LivingProcess[]> {
  return query<LivingProcess>(pool, LIVING_PROCESSES, []);
}
