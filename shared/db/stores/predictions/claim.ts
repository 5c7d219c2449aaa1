import type { Pool } from 'pg';
import type { Memory } from '../../../domain/memory.ts';
import { ABANDON_AFTER_MS, FACTS_DEFAULT } from '../../../schemas/limits.ts';
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
  /** Of the account that the app's user connected; null without a connection. */
  memory: Memory | null;
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
  memory: Memory | null;
  left_ms: number;
}

const MEMORY = `
  json_build_object(
    'profile', (select json_build_object('summary', o.summary, 'data', o.data) from profiles o where o.account_id = c.account_id),
    'facts', coalesce((
      select json_agg(f.text order by f.pinned desc, f.confidence desc, f.id desc) from (
        select f.* from facts f
         where f.account_id = c.account_id and f.superseded_by is null
           and (f.valid_from is null or f.valid_from <= now()) and (f.valid_to is null or f.valid_to > now())
         order by f.pinned desc, f.confidence desc, f.id desc limit ${FACTS_DEFAULT}) f), '[]'))`;

/** The memory and the revisions that name it are of one snapshot. */
const CLAIM = {
  name: 'claim_v2',
  text: `
    with hasty as materialized (
      select set_config('synchronous_commit', 'off', true)
    ), free as (
      select p.id, a.id as account_id, coalesce(c.grant_revision, 0) as grant_revision,
             coalesce(profile_revision(a.id, a.memory_revision), 'none') as profile_revision
        from hasty cross join predictions p
        left join connections c on c.id = p.connection_id::uuid
        left join accounts a on a.id = c.account_id
       where p.id = any ($1::uuid[]) and p.state = 'queued' and p.deadline_at > now()
         and (p.detached_at is null or p.detached_at > now() - make_interval(secs => $3 / 1000.0))
       order by p.id for update of p
    ), claimed as (
      update predictions p
         set state = 'running', worker = $2::uuid, started_at = now(),
             grant_revision = free.grant_revision, profile_revision = free.profile_revision
        from free where p.id = free.id
      returning p.id, p.app_id, p.month, p.attempt, p.deadline_at, p.turn, free.account_id
    ), clock as (
      update processes w set turn = greatest(w.turn, c.turn), claimed = w.claimed + c.taken
        from (select max(turn) as turn, count(*) as taken from claimed) c
       where w.id = $2::uuid and c.taken > 0
    )
    select c.id, c.app_id, c.month, c.attempt, t.request, a.min_confidence,
           case when c.account_id is not null then ${MEMORY} end as memory,
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
          memory: row.memory,
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
