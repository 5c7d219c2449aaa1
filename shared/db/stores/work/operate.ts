import type { Pool } from 'pg';
import { LOWEST_ID } from '../../../ids.ts';
import { isLockTimeout } from '../../faults.ts';
import { query } from '../../statement.ts';
import type { Completion, WorkRef } from './complete.ts';

export interface KindCounts {
  kind: string;
  waiting: number;
  running: number;
  /** Seconds since the admission of the oldest waiting piece; null when nothing waits. */
  oldestS: number | null;
  /** Number of failures in the last 24 hours. */
  failed: number;
}

const COUNT_KINDS = {
  name: 'count_kinds_v1',
  text: `select k.kind, coalesce(w.waiting, 0) as waiting, coalesce(w.running, 0) as running, w."oldestS",
                (select count(*)::int from history h
                  where h.kind = k.kind and h.state = 'failed'
                    and h.ended_at > now() - interval '24 hours') as failed
           from unnest($1::text[]) with ordinality as k (kind, place)
           left join (
             select kind, (count(*) filter (where state = 'queued'))::int as waiting,
                    (count(*) filter (where state = 'running'))::int as running,
                    extract(epoch from now() - min(admitted_at) filter (where state = 'queued'))::int as "oldestS"
               from work group by kind) w on w.kind = k.kind
          order by k.place`,
};

/** Returns the kinds in the given order. */
export function countKinds(pool: Pool, kinds: readonly string[]): Promise<KindCounts[]> {
  return query<KindCounts>(pool, COUNT_KINDS, [kinds]);
}

/** Counts of a party's work. */
export interface PartyLoad {
  queued: number;
  running: number;
  /** Seconds that the oldest queued piece has waited; null when none waits. */
  oldestS: number | null;
}

/** Counts without a limit: a limit would cut off the queued pieces of a party that has many running. */
const PARTY_LOAD = {
  name: 'party_load_v1',
  text: `
    select count(*) filter (where state = 'queued')::int as queued,
           count(*) filter (where state = 'running')::int as running,
           round(extract(epoch from clock_timestamp() - min(queued_at) filter (where state = 'queued')), 1)::float8
             as "oldestS"
      from work where kind = any ($1::text[]) and party = $2::uuid`,
};

export async function readPartyLoad(pool: Pool, kinds: readonly string[], party: string): Promise<PartyLoad> {
  const [row] = await query<PartyLoad & object>(pool, PARTY_LOAD, [kinds, party]);
  if (row === undefined) throw new Error('the database answered nothing');
  return row;
}

const PAUSE_POOLS = {
  name: 'pause_pools_v1',
  text: `insert into paused_pools (pool, paused_at) select p, now() from unnest($1::text[]) p on conflict do nothing`,
};

/** Each worker claims nothing for these pools from its next heartbeat on. Running work goes on. */
export async function pausePools(pool: Pool, names: readonly string[]): Promise<void> {
  await query(pool, PAUSE_POOLS, [names]);
}

const READ_HEARTBEATS = {
  name: 'worker_beats_v1',
  text: `select id, (extract(epoch from alive_until) * 1000)::float8 as beat from processes
          where is_alive(alive_until) and pools ?| $1::text[] and not settings @> '{"resting": true}'`,
};

/**
 * Reads the living workers of these pools, each with a number that grows with each heartbeat. Leaves out those at rest,
 * which have a heartbeat before they claim.
 */
export async function readHeartbeats(
  database: Pool,
  poolNames: readonly string[],
): Promise<Map<string, number>> {
  const rows = await query<{ id: string; beat: number }>(database, READ_HEARTBEATS, [poolNames]);
  return new Map(rows.map(({ id, beat }) => [id, beat]));
}

const RESUME_POOLS = {
  name: 'resume_pools_v1',
  text: 'delete from paused_pools where pool = any ($1::text[])',
};

/** Each worker claims for these pools again from its next heartbeat on. */
export async function resumePools(pool: Pool, names: readonly string[]): Promise<void> {
  await query(pool, RESUME_POOLS, [names]);
}

const DRAIN_BATCH_ROWS = 200;

const QUEUED_WORK = {
  name: 'queued_work_v1',
  text: `select id, kind, party, month, attempt from work
          where kind = any ($1::text[]) and state = 'queued' and admitted_at <= to_timestamp($2::float8 / 1000)
            and (party, id) > ($3::uuid, $4::uuid)
          order by party, id limit ${DRAIN_BATCH_ROWS}`,
};

/** `locked` is the number of pieces left queued because another transaction locked their party. */
export interface DrainCounts {
  ended: number;
  locked: number;
}

/** Ends queued work that was admitted up to `before` (Unix milliseconds), as `service_unavailable`. */
export async function drainQueued(
  pool: Pool,
  kinds: readonly string[],
  { before, end }: { before: number; end(ofParty: Completion[]): Promise<readonly string[]> },
): Promise<DrainCounts> {
  type Queued = WorkRef & { attempt: number };
  const failure = { guard: 'queued', state: 'failed', code: 'service_unavailable' } as const;
  const counts = { ended: 0, locked: 0 };
  for (let last: Pick<Queued, 'party' | 'id'> | undefined = { party: LOWEST_ID, id: LOWEST_ID }; last; ) {
    const rows: Queued[] = await query<Queued>(pool, QUEUED_WORK, [kinds, before, last.party, last.id]);
    for (const [, ofParty] of Map.groupBy(rows, ({ party }) => party)) {
      const completions = ofParty.map((one) => ({ ...one, ...failure }));
      try {
        counts.ended += (await end(completions)).length;
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        counts.locked += ofParty.length;
      }
    }
    last = rows.length < DRAIN_BATCH_ROWS ? undefined : rows.at(-1);
  }
  return counts;
}

/** A failed job that is the account's latest job of its kind. */
export interface FailedJob {
  id: string;
  party: string;
}

const JOBS_TO_RETRY = {
  name: 'failed_jobs_v1',
  text: `select f.id, f.party, f."needsRetry"
           from (
             select distinct on (h.party) h.id, h.party, h.ended_at from history h
              where h.kind = $1 and h.party > $2::uuid and h.month is null
                and h.state = 'failed' and h.ended_at > now() - interval '24 hours'
              order by h.party, h.ended_at desc limit $3) l
          cross join lateral (
            select l.id, l.party,
                   exists (select from accounts a where a.id = l.party and a.active)
                   and not exists (
                     select from history n
                      where n.party = l.party and n.month is null and n.kind = $1 and n.ended_at > l.ended_at)
                   and not exists (select from work w where w.kind = $1 and w.party = l.party) as "needsRetry") f
          order by f.party`,
};

/** One page of the accounts for which a job of one kind has failed in the last 24 hours. */
export interface RetryPage {
  /** Jobs to retry. Their accounts are active and have no later job of the kind. */
  jobs: FailedJob[];
  /** Id of the page's last account; undefined on the last page. */
  last: string | undefined;
}

/** Reads the page of accounts whose ids follow the account `after`. */
export async function readJobsToRetry(
  pool: Pool,
  kind: string,
  after: string,
  size: number,
): Promise<RetryPage> {
  const rows = await query<FailedJob & { needsRetry: boolean }>(pool, JOBS_TO_RETRY, [kind, after, size]);
  return {
    jobs: rows.filter(({ needsRetry }) => needsRetry).map(({ id, party }) => ({ id, party })),
    last: rows.length < size ? undefined : rows.at(-1)?.party,
  };
}
