import type { Pool } from 'pg';
import { predictionKey } from '../../domain/prediction.ts';
import { AppError } from '../../errors/app-error.ts';
import type { ErrorCode } from '../../errors/catalogue.ts';
import { TOMBSTONE_DAYS } from '../../schemas/limits.ts';
import type { PredictionEventRequest } from '../../schemas/predictions.ts';
import { query } from '../statement.ts';

/** Maximum number of events of a prediction. Concurrent requests may exceed it by a few. */
const PREDICTION_EVENTS_MAX = 100;

const RECORD_EVENT = {
  name: 'record_event_v1',
  text: `
    with prior as (
      select e.request_id = $3 and e.user_id = $4 and e.kind = $5 as same
        from prediction_events e where e.app_id = $1::uuid and e.event_id = $2
    ), shown as (
      select f.id, f.facts::json ->> 'userId' = $4 as own, f.state in ('queued', 'running') as live,
             f.state = 'suggested' as suggested
        from find_v1(array[$6::uuid], tombstone_age(), false) f where f.id is not null
    ), others as (
      select count(*) >= ${PREDICTION_EVENTS_MAX} as are_enough,
             extract(epoch from min(o.recorded_at) + interval '${TOMBSTONE_DAYS} days' - now())::float8 as left_s
        from (select e.recorded_at from shown s join prediction_events e on e.prediction_id = s.id
               limit ${PREDICTION_EVENTS_MAX}) o
    ), stored as (
      insert into prediction_events (app_id, event_id, prediction_id, request_id, user_id, kind, suggested, retained, recorded_at)
      select $1::uuid, $2, s.id, $3, $4, $5, s.suggested, $7::real, now() from shown s, others o
       where s.own and not s.live and not o.are_enough and not exists (select from prior)
      on conflict do nothing
      returning event_id
    )
    select case
      when exists (select from stored) or (select same from prior) then 'recorded'
      when exists (select from prior) then 'event_conflict'
      when not exists (select from shown) then 'not_found'
      when not (select own from shown) then 'access_denied'
      when (select live from shown) then 'request_in_flight'
      when (select o.are_enough from others o) then 'rate_limited'
    end as outcome, (select o.left_s from others o) as "retryAfterS"`,
};

type Refusal = Extract<
  ErrorCode,
  'event_conflict' | 'not_found' | 'access_denied' | 'request_in_flight' | 'rate_limited'
>;

interface Outcome {
  outcome: 'recorded' | Refusal | null;
  /** Seconds until the prediction's oldest event is deleted. */
  retryAfterS: number;
}

/**
 * Records what became of a finished prediction, with the share of it that the person retained. Repeating an event
 * changes nothing. Throws an `AppError` with a `Refusal` as its code: `event_conflict` if the app used the event's id
 * for another event, `rate_limited` after `PREDICTION_EVENTS_MAX` events.
 */
export async function recordEvent(
  pool: Pool,
  appId: string,
  { event_id, request_id, user_id, kind }: PredictionEventRequest,
  retained: number | null,
): Promise<void> {
  const values = [appId, event_id, request_id, user_id, kind, predictionKey(appId, request_id), retained];
  for (;;) {
    const [row] = await query<Outcome>(pool, RECORD_EVENT, values);
    if (row?.outcome === 'recorded') return;
    if (row?.outcome === 'rate_limited') throw new AppError('rate_limited', { retryAfterS: row.retryAfterS });
    if (row?.outcome) throw new AppError(row.outcome);
    // A concurrent request has just stored an event with this id. The next try of the statement sees it.
  }
}

/** Numbers of a person's latest verdicts on suggestions: those that took one (accepted or edited it) or dismissed one. */
export interface Verdicts {
  taken: number;
  dismissed: number;
}

const LATEST_EVENTS_MAX = 2000;
const VERDICTS_MAX = 200;

const ACCOUNT_VERDICTS = {
  name: 'account_verdicts_v1',
  text: `
    select e.kind from connections c
     cross join lateral (
       select kind, suggested, recorded_at from prediction_events
        where app_id = c.app_id and user_id = c.user_id order by recorded_at desc limit ${LATEST_EVENTS_MAX}) e
     where c.account_id = $1::uuid and e.kind in ('accepted', 'edited', 'dismissed') and e.suggested is not false
     order by e.recorded_at desc limit ${VERDICTS_MAX}`,
};

/** Counts a person's verdicts on suggestions in all apps that they connected. */
export async function verdictsOfAccount(pool: Pool, accountId: string): Promise<Verdicts> {
  const events = await query<{ kind: string }>(pool, ACCOUNT_VERDICTS, [accountId]);
  const dismissed = events.filter(({ kind }) => kind === 'dismissed').length;
  return { taken: events.length - dismissed, dismissed };
}
