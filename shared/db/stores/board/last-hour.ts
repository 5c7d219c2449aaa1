import type { Pool } from 'pg';
import type { CallOutcome } from '../../../domain/provider-call.ts';
import { lowestIdAt } from '../../../ids.ts';
import { query } from '../../statement.ts';

/** Maximum number of ended calls that are summed up: the latest. */
export const MINUTE_CALLS_MAX = 200_000;

/** Calls that ended in one minute. */
export interface MinuteOfCalls {
  /** Beginning of the minute, in Unix milliseconds. */
  minute: number;
  calls: number;
  failed: number;
  /** Milliseconds from admission to end. */
  p50: number;
  p95: number;
  /** Milliseconds from admission to claim; null if none was claimed. */
  waited: number | null;
}

const READ_MINUTES = {
  name: 'board_minutes_v1',
  text: `
    with ended as (
      select h.state, h.ended_at, extract(epoch from h.ended_at - h.admitted_at) * 1000 as took,
             extract(epoch from h.started_at - h.admitted_at) * 1000 as waited
        from history h
       where h.ended_at >= to_timestamp($2::float8 / 1000) and h.kind = any ($1::text[])
       order by h.ended_at desc limit ${MINUTE_CALLS_MAX}
    )
    select (extract(epoch from date_trunc('minute', e.ended_at)) * 1000)::float8 as minute, count(*)::int as calls,
           (count(*) filter (where e.state = 'failed'))::int as failed,
           percentile_disc(0.5) within group (order by e.took)::float8 as p50,
           percentile_disc(0.95) within group (order by e.took)::float8 as p95,
           percentile_disc(0.95) within group (order by e.waited)::float8 as waited
      from ended e group by 1 order by 1`,
};

/** Sums up calls of these kinds by the minute in which they ended, from the minute `since` on. */
export function readMinutes(pool: Pool, kinds: readonly string[], since: number): Promise<MinuteOfCalls[]> {
  return query<MinuteOfCalls & object>(pool, READ_MINUTES, [kinds, since]);
}

const RECENT_CALLS_MAX = 2000;

/** What a model's provider has answered lately. */
export interface ProviderState {
  model: string;
  calls: number;
  failed: number;
  /** Outcome of the latest call that failed; null if none did. */
  reason: CallOutcome | null;
  agoS: number;
}

const READ_PROVIDER_STATES = {
  name: 'board_providers_v1',
  text: `
    with recent as (
      select c.model, c.outcome, c.at, c.outcome in ('timeout', 'not_configured', 'rate_limited', 'failed') as failed
        from provider_calls c where c.id > $1::uuid order by c.id desc limit ${RECENT_CALLS_MAX}
    )
    select r.model, count(*)::int as calls, (count(*) filter (where r.failed))::int as failed,
           (array_agg(r.outcome order by r.at desc) filter (where r.failed))[1] as reason,
           extract(epoch from now() - max(r.at))::int as "agoS"
      from recent r group by r.model order by r.model`,
};

/** Reads the state of each model that was called since a time, in Unix milliseconds. */
export function readProviderStates(pool: Pool, since: number): Promise<ProviderState[]> {
  return query<ProviderState & object>(pool, READ_PROVIDER_STATES, [lowestIdAt(since)]);
}
