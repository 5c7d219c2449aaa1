-- Says that this ingress has no caller left that waits for the work. Returns what nobody at all waits for any more and
-- whose latest caller wanted it cancelled then.
create or replace function detach_v1(_ids uuid[], _process uuid)
returns table (id uuid, party uuid, month text)
language plpgsql
set lock_timeout = '500ms' set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with alone as (
    select w.id from work w where w.id = any (_ids) order by w.id for update
  ), detached as (
    update work w
       set waiters = array_remove(w.waiters, _process),
           detached_at = case when array_remove(w.waiters, _process) = '{}' then now() end
      from alone a where w.id = any (_ids) and w.id = a.id
    returning w.id, w.party, w.month, w.detached_at, w.cancel_on_disconnect
  )
  select d.id, d.party, d.month from detached d where d.detached_at is not null and d.cancel_on_disconnect;
end $$;
