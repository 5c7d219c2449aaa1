-- Detaches an ingress from requests that none of its callers waits for any more, by their keys: the answer to an
-- admission, with the id of the work, may have been lost. Returns the work that no ingress waits for now, and whose
-- latest caller wanted it cancelled in that case.
--
-- Only requests in `_disconnected`, whose last caller's connection closed, are cancelled. The other requests lose
-- `cancel_on_disconnect`, because an answered caller may repeat its request, unless another living process has callers.
create or replace function detach_v1(_keys uuid[], _disconnected uuid[], _process uuid)
returns table (key uuid, id uuid, party uuid, month text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  with locked as (
    select w.id from work w where w.key = any (_keys) order by w.id for update
  ), detached as (
    update work w
       set waiters = array_remove(w.waiters, _process),
           detached_at = case
             when w.detached_at = 'infinity' then w.detached_at
             when array_remove(w.waiters, _process) = '{}' then now()
           end,
           cancel_on_disconnect = w.cancel_on_disconnect
             and (w.key = any (_disconnected) or exists (
               select from processes a
                where a.id = any (array_remove(w.waiters, _process)) and is_alive(a.alive_until)))
      from locked l where w.id = l.id
    returning w.key, w.id, w.party, w.month, w.waiters, w.cancel_on_disconnect
  )
  select d.key, d.id, d.party, d.month from detached d where d.waiters = '{}' and d.cancel_on_disconnect;
end $$;
