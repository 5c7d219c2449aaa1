import type { Pool } from 'pg';
import { unixMs } from '../../rows.ts';
import { query } from '../../statement.ts';

/** Work in any state, without its texts. Times are Unix milliseconds. */
export interface TracedWork {
  id: string;
  kind: string;
  party: string;
  app: string | null;
  state: string;
  code: string | null;
  source: string | null;
  attempt: number;
  units: number;
  worker: string | null;
  requestId: string | null;
  admittedAt: number;
  startedAt: number | null;
  endedAt: number | null;
  deadlineAt: number | null;
  /**
   * Number of ingresses whose callers wait for this work; `leftAt` is the time at which the last ingress stopped
   * waiting. Both are null once the work has ended.
   */
  callers: number | null;
  leftAt: number | null;
}

export interface TracedCall {
  at: number;
  attempt: number;
  model: string;
  outcome: string;
  latencyMs: number;
  inputTokens: number;
  outputTokens: number;
}

export interface TracedEvent {
  at: number;
  kind: string;
}

const LISTED_ROWS_MAX = 20;

const ENDED_COLUMNS = `h.id, h.kind, h.party, h.state, h.code, h.source, h.attempt, h.units, null, h.facts,
             h.admitted_at, h.started_at, h.ended_at, null, null, null`;

/**
 * Reads all of the history in the time span, because no index has the `X-Request-Id`. The id of a job is the key of its
 * work.
 */
const FIND_WORK = {
  name: 'board_find_v1',
  text: `
    with found as (
      select w.id, w.kind, w.party, w.state, null as code, null as source, w.attempt, 0 as units, w.worker, w.facts,
             w.admitted_at, w.started_at, null::timestamptz as ended_at, w.deadline_at,
             cardinality(w.waiters) as callers, nullif(w.detached_at, 'infinity') as left_at
        from work w where w.id = $1::uuid or w.key = $1::uuid or strpos(w.facts, $2) > 0
      union all
      select ${ENDED_COLUMNS} from history h
       where h.ended_at between to_timestamp($3::float8 / 1000) and to_timestamp($4::float8 / 1000)
         and (h.id = $1::uuid or strpos(h.facts, $2) > 0)
      union all
      select ${ENDED_COLUMNS} from history h where h.key = $1::uuid
    )
    select f.id, f.kind, f.party, a.name as app, f.state, f.code, f.source, f.attempt, f.units, f.worker,
           f.facts::json -> 'trace' ->> 'requestId' as "requestId", ${unixMs('f.admitted_at')} as "admittedAt",
           ${unixMs('f.started_at')} as "startedAt", ${unixMs('f.ended_at')} as "endedAt", ${unixMs('f.deadline_at')} as "deadlineAt",
           f.callers, ${unixMs('f.left_at')} as "leftAt"
      from (select * from found order by admitted_at desc limit ${LISTED_ROWS_MAX}) f left join apps a on a.id = f.party
     order by f.admitted_at, f.ended_at`,
};

export interface TimeSpan {
  /** Unix milliseconds, like `toMs`. */
  fromMs: number;
  toMs: number;
}

/**
 * Finds work by its id, the id of its job or the `X-Request-Id` of its request. An attempt after a failure is a row of
 * its own.
 */
export function findWork(
  pool: Pool,
  { id, trace, fromMs, toMs }: TimeSpan & { id: string | null; trace: string },
): Promise<TracedWork[]> {
  return query<TracedWork & object>(pool, FIND_WORK, [id, trace, fromMs, toMs]);
}

const CALLS_FOR_WORK = {
  name: 'board_calls_v1',
  text: `
    select ${unixMs('c.at')} as at, c.attempt, c.model, c.outcome, c.latency_ms as "latencyMs",
           c.input_tokens as "inputTokens", c.output_tokens as "outputTokens"
      from provider_calls c where c.id >= $1::uuid and c.id < $2::uuid and c.work_id = $3::uuid order by c.at limit ${LISTED_ROWS_MAX}`,
};

/** Reads the provider calls of a piece of work, with ids from `firstId` to just before `endId`. */
export function callsFor(pool: Pool, work: string, firstId: string, endId: string): Promise<TracedCall[]> {
  return query<TracedCall & object>(pool, CALLS_FOR_WORK, [firstId, endId, work]);
}

const EVENTS_OF_PREDICTION = {
  name: 'board_events_v1',
  text: `
    select ${unixMs('recorded_at')} as at, kind from prediction_events where prediction_id = $1::uuid
     order by recorded_at limit ${LISTED_ROWS_MAX}`,
};

export function eventsOf(pool: Pool, id: string): Promise<TracedEvent[]> {
  return query<TracedEvent & object>(pool, EVENTS_OF_PREDICTION, [id]);
}
