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

/** A party's work by its key. */
export interface NamedJob {
  party: string;
  key: string;
}

interface JobRow extends Omit<Job, 'progress' | 'report'> {
  place: number;
  progress: string | null;
  report: string | null;
}

const JOBS = {
  name: 'jobs_v2',
  text: `
    select named.place::int, job.*
      from unnest($1::uuid[], $2::uuid[]) with ordinality as named (party, key, place)
     cross join lateral (
       (select w.key, w.kind, w.state, null as code, w.progress, null as report,
               (extract(epoch from w.admitted_at) * 1000)::float8 as "admittedMs", null::float8 as "endedMs"
          from work w where w.key = named.key and w.party = named.party and w.kind = any ($3::text[]))
       union all
       (select h.key, h.kind, h.state, h.code, null, h.report,
               (extract(epoch from h.admitted_at) * 1000)::float8, (extract(epoch from h.ended_at) * 1000)::float8
          from history h
         where h.key = named.key and h.party = named.party and h.kind = any ($3::text[])
           and h.ended_at > now() - interval '${KEPT_HOURS} hours'
         order by h.id desc, h.attempt desc limit 1)
       order by "endedMs" nulls first limit 1) job`,
};

/** Work of parties by its keys, each undefined when there is none, or it ended more than 24 hours ago. */
export async function findJobs(
  pool: Pool,
  named: readonly NamedJob[],
  kinds: readonly string[],
): Promise<(Job | undefined)[]> {
  const parties = named.map(({ party }) => party);
  const keys = named.map(({ key }) => key);
  const found: (Job | undefined)[] = named.map(() => undefined);
  for (const { place, progress, report, ...row } of await query<JobRow>(pool, JOBS, [parties, keys, kinds]))
    found[place - 1] = { ...row, progress: parsed(progress), report: parsed(report) };
  return found;
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
