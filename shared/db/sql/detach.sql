-- Detaches an ingress from work that none of its callers waits for any more. Returns the work that no ingress waits for
-- now, and whose latest caller wanted it cancelled in that case.
create or replace function detach_v1(_ids uuid[], _process uuid)
returns table (id uuid, party uuid, month text)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
  with locked as (
    select w.id from work w where w.id = any (_ids) order by w.id for update
  ), detached as (
    update work w
       set waiters = array_remove(w.waiters, _process),
           detached_at = case
             when w.detached_at = 'infinity' then w.detached_at
             when array_remove(w.waiters, _process) = '{}' then now()
           end
      from locked l where w.id = any (_ids) and w.id = l.id
    returning w.id, w.party, w.month, w.waiters, w.cancel_on_disconnect
  )
  select d.id, d.party, d.month from detached d where d.waiters = '{}' and d.cancel_on_disconnect;
end $$;
