import type { Pool } from 'pg';
import type { Outcome } from '../../../domain/work.ts';
import { query } from '../../statement.ts';

/** For how long an ended job can be read. */
const KEPT_HOURS = 24;

/** A piece of work as its party sees it. */
export interface Job extends Pick<Outcome, 'key' | 'state' | 'code'> {
  kind: string;
  /** Live: what its handler has kept; ended: what it reported. */
  progress: unknown;
  report: unknown;
  admittedMs: number;
  endedMs: number | null;
}

interface JobRow extends Omit<Job, 'progress' | 'report'> {
  progress: string | null;
  report: string | null;
}

const JOB = {
  name: 'job_v1',
  text: `
    (select key, kind, state, null as code, progress, null as report,
            (extract(epoch from admitted_at) * 1000)::float8 as "admittedMs", null::float8 as "endedMs"
       from work where key = $1::uuid and party = $2::uuid and kind = any ($3::text[]))
    union all
    (select key, kind, state, code, null, report,
            (extract(epoch from admitted_at) * 1000)::float8, (extract(epoch from ended_at) * 1000)::float8
       from history
      where key = $1::uuid and party = $2::uuid and kind = any ($3::text[])
        and ended_at > now() - interval '${KEPT_HOURS} hours'
      order by ended_at desc limit 1)
    order by "endedMs" nulls first limit 1`,
};

/** A party's work by its key; undefined when there is none, or it ended more than 24 hours ago. */
export async function findJob(
  pool: Pool,
  { key, party, kinds }: { key: string; party: string; kinds: readonly string[] },
): Promise<Job | undefined> {
  const [row] = await query<JobRow>(pool, JOB, [key, party, kinds]);
  return row && { ...row, progress: parsed(row.progress), report: parsed(row.report) };
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
