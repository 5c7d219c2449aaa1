-- Puts claimed, unfinished work back into the queue for another process. Consumes no attempt. Returns the work.
-- Like work of a dead worker, it outlives its callers.
create or replace function release_v1(_ids uuid[], _worker uuid) returns table (id uuid, kind text, party uuid)
language sql
as $$
  update work w
     set state = 'queued', worker = null, started_at = null, detached_at = 'infinity'
   where w.id = any (_ids) and w.id in (
     select o.id from work o
      where o.id = any (_ids) and o.state = 'running' and o.worker = _worker order by o.id for update)
  returning w.id, w.kind, w.party
$$;
