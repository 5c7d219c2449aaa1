-- Queues orphaned work again, as a new attempt: if the process that ran it comes back, its answer is refused.
create or replace function take_over_v1(_ids uuid[]) returns setof uuid
language sql
as $$
  update work w
     set state = 'queued', attempt = w.attempt + 1, worker = null, started_at = null
   where w.id = any (_ids) and w.id in (
     select o.id from work o
      where o.id = any (_ids) and o.state = 'running'
        and not exists (select from processes a where a.id = o.worker and a.alive_until > now())
      order by o.id for update skip locked)
  returning w.id
$$;
