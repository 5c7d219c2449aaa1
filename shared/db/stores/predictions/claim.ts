import type { Pool } from 'pg';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';

/** A prediction that this process runs now, under its lease. */
export interface Claim {
  id: string;
  appId: string;
  month: string;
  attempt: number;
  /** The canonical body of the request. */
  request: string;
  minConfidence: number;
  /** Milliseconds to the deadline, by the database's clock. */
  leftMs: number;
}

interface ClaimRow {
  id: string;
  app_id: string;
  month: string;
  attempt: number;
  request: string;
  min_confidence: number;
  left_ms: number;
}

const CLAIM = {
  name: 'claim_v1',
  text: `
    with hasty as materialized (
      select set_config('synchronous_commit', 'off', true)
    ), free as (
      select id from predictions, hasty
       where id = any ($1::uuid[]) and state = 'queued' and deadline_at > now()
         and (detached_at is null or detached_at > now() - make_interval(secs => $3 / 1000.0))
       order by id for update of predictions
    ), claimed as (
      update predictions p set state = 'running', worker = $2::uuid, started_at = now()
        from free where p.id = free.id
      returning p.id, p.app_id, p.month, p.attempt, p.deadline_at, p.turn
    ), clock as (
      update processes w set turn = greatest(w.turn, c.turn), claimed = w.claimed + c.taken
        from (select max(turn) as turn, count(*) as taken from claimed) c
       where w.id = $2::uuid and c.taken > 0
    )
    select c.id, c.app_id, c.month, c.attempt, t.request, a.min_confidence,
           (extract(epoch from c.deadline_at - clock_timestamp()) * 1000)::float8 as left_ms
      from claimed c
      join prediction_texts t on t.prediction_id = c.id
      join apps a on a.id = c.app_id`,
};

/**
 * Takes those of the ids that are free. Promise: an attempt runs in one process only; a late or doubled delivery,
 * and what ended or was abandoned meanwhile, claims nothing (`undefined` in its place).
 *
 * The commit does not wait for the disk: a claim that a crash of the server undoes leaves a queued row, which the
 * reaper queues again, and an end that is refused.
 */
export async function claim(pool: Pool, ids: string[], worker: string): Promise<(Claim | undefined)[]> {
  const rows = await query<ClaimRow>(pool, CLAIM, [ids, worker, ABANDON_AFTER_MS]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    byId.delete(id);
    return row === undefined
      ? undefined
      : {
          id,
          appId: row.app_id,
          month: row.month,
          attempt: row.attempt,
          request: row.request,
          minConfidence: row.min_confidence,
          leftMs: row.left_ms,
        };
  });
}

const HAND_BACK = {
  name: 'hand_back_v1',
  text: `
    with mine as (
      select id from predictions
       where id = any ($1::uuid[]) and state = 'running' and worker = $2::uuid
       order by id for update
    )
    update predictions p set state = 'queued', worker = null, started_at = null
      from mine where p.id = mine.id
    returning p.id, p.app_id as "appId", p.turn::float8 as turn`,
};

/** Gives claimed predictions back unfinished, so that another process takes them; consumes no attempt. */
export function handBack(
  pool: Pool,
  ids: string[],
  worker: string,
): Promise<{ id: string; appId: string; turn: number }[]> {
  return query(pool, HAND_BACK, [ids, worker]);
}

const HELD = {
  name: 'held_v1',
  text: `select id, attempt from predictions where state in ('queued', 'running') and state = 'running' and worker = $1::uuid`,
};

/** What this process runs according to the truth: id → attempt. */
export async function heldBy(pool: Pool, worker: string): Promise<Map<string, number>> {
  const rows = await query<{ id: string; attempt: number }>(pool, HELD, [worker]);
  return new Map(rows.map((row) => [row.id, row.attempt]));
}
