import type { Pool } from 'pg';
import { ABANDON_AFTER_MS } from '../../../schemas/limits.ts';
import { query } from '../../statement.ts';

const MOST = 1000;

/** A prediction to be put on its queue. */
export interface Requeued {
  id: string;
  appId: string;
  turn: number;
}

const TAKE_OVER = {
  name: 'take_over_v1',
  text: `
    with dead as (
      select p.id from predictions p
       where p.state = 'running' and p.state in ('queued', 'running') and p.deadline_at > now()
         and not exists (select from processes w where w.id = p.worker and w.alive_until > now())
       order by p.id limit ${MOST} for update skip locked
    )
    update predictions p
       set state = 'queued', attempt = p.attempt + 1, worker = null, started_at = null,
           requeue_at = now() + interval '1500 milliseconds'
      from dead where p.id = dead.id
    returning p.id, p.app_id as "appId", p.turn::float8 as turn`,
};

/** Frees what a dead process ran, as a new attempt: the dead one's answer, should it come, is refused. */
export function takeOver(pool: Pool): Promise<Requeued[]> {
  return query<Requeued>(pool, TAKE_OVER, []);
}

const FORGOTTEN = {
  name: 'forgotten_v1',
  text: `
    with forgotten as (
      select p.id from predictions p
       where p.state = 'queued' and p.state in ('queued', 'running') and p.requeue_at <= now() and p.deadline_at > now()
       order by p.id limit ${MOST} for update skip locked
    )
    update predictions p set requeue_at = now() + (now() - p.admitted_at)
      from forgotten where p.id = forgotten.id
    returning p.id, p.app_id as "appId", p.turn::float8 as turn`,
};

/**
 * What waits in the table but perhaps in no queue: its ingress died before queueing it, or the queue lost it.
 * Looked at again after ever longer spells, because under load a row may just be waiting; doubled jobs claim nothing.
 */
export function forgotten(pool: Pool): Promise<Requeued[]> {
  return query<Requeued>(pool, FORGOTTEN, []);
}

/** A prediction that is over without an answer, and why. */
export interface Doomed {
  id: string;
  appId: string;
  month: string;
  guard: 'overdue' | 'abandoned' | 'detached';
}

const DOOMED = {
  name: 'doomed_v1',
  text: `
    with live as (
      select p.id, p.app_id as "appId", p.month,
             case when p.deadline_at <= now() then 'overdue'
                  when p.cancel_on_disconnect
                   and not p.waiters && array(select a.id from processes a where a.alive_until > now()) then 'detached'
                  when p.state = 'queued' and p.admitted_at <= long_ago and coalesce(p.detached_at <= long_ago, true)
                   and not p.waiters && array(select a.id from processes a where a.alive_until > long_ago) then 'abandoned'
             end as guard
        from predictions p, (select now() - make_interval(secs => $1 / 1000.0) as long_ago) t
       where p.state in ('queued', 'running')
    )
    select * from live where guard is not null limit ${MOST}`,
};

/**
 * What ran out of time, and what nobody waits for any more: its callers went away, or the ingress processes that they
 * waited at are dead. A process that was only slow is alive again with its next heartbeat, and its callers with it.
 */
export function doomed(pool: Pool): Promise<Doomed[]> {
  return query<Doomed>(pool, DOOMED, [ABANDON_AFTER_MS]);
}
