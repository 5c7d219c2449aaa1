import type { Pool } from 'pg';
import { predictionKey } from '../../domain/prediction.ts';
import type { ErrorCode } from '../../errors/catalogue.ts';
import type { PredictionEventRequest } from '../../schemas/prediction-events.ts';
import { query } from '../statement.ts';

const RECORD = {
  name: 'record_event_v2',
  text: `
    with prior as (
      select e.request_id = $3 and e.user_id = $4 and e.kind = $5 as same
        from prediction_events e where e.app_id = $1::uuid and e.event_id = $2
    ), shown as (
      select f.id, f.facts::json ->> 'userId' = $4 as own, f.state in ('queued', 'running') as live
        from find_v1(array['predict'], $1::uuid, $6::uuid, $3, null) f
    ), stored as (
      insert into prediction_events (app_id, event_id, prediction_id, request_id, user_id, kind, recorded_at)
      select $1::uuid, $2, s.id, $3, $4, $5, now() from shown s
       where s.own and not s.live and not exists (select from prior)
      on conflict do nothing
      returning event_id
    )
    select case
      when exists (select from stored) or (select same from prior) then 'recorded'
      when exists (select from prior) then 'event_conflict'
      when not exists (select from shown) then 'not_found'
      when not (select own from shown) then 'access_denied'
      when (select live from shown) then 'request_in_flight'
    end as outcome`,
};

type Outcome =
  | 'recorded'
  | Extract<ErrorCode, 'event_conflict' | 'not_found' | 'access_denied' | 'request_in_flight'>;

/** Records what became of a finished prediction, once for each event id of the app; or tells why not. */
export async function recordEvent(
  pool: Pool,
  appId: string,
  { event_id, request_id, user_id, kind }: PredictionEventRequest,
): Promise<Outcome> {
  const values = [appId, event_id, request_id, user_id, kind, predictionKey(appId, request_id)];
  for (;;) {
    const [row] = await query<{ outcome: Outcome | null }>(pool, RECORD, values);
    // Null: a twin that this statement could not see yet was stored first. The next look sees it.
    if (row?.outcome) return row.outcome;
  }
}
