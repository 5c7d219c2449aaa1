-- Erases the answers and the profile revision of the latest predictions made with an ended grant of an account: about
-- `_most` of them, in one transaction. Their recovery window ends too, since nothing is left to recover. Usage and
-- tombstones stay. A request that ran again has a history row for each end, and each may belong to another grant; the
-- answer belongs to the end with the state `suggested`. Returns whether older predictions are left; the grant's row
-- stores how far the erasure has come.
--
-- The settings hold the planner to the index on a connection's predictions by time, so that a step reads as many rows
-- as it erases, whether the connection has few or many.
create or replace function erase_made_with_v1(_account uuid, _connection uuid, _revision int, _most int) returns boolean
language plpgsql
set lock_timeout = '2s' set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  latest timestamptz;
  earliest timestamptz;
begin
  select g.ended_at into latest from erasing_grants g
   where g.account_id = _account and g.connection_id = _connection and g.grant_revision = _revision
     for update;
  select h.admitted_at into earliest from history h
   where h.connection_id = _connection and h.admitted_at <= latest
   order by h.admitted_at desc offset _most limit 1;
  with erased as (
    update history h
       set report = (h.report::jsonb || '{"profileRevision": "none"}')::text, expires_at = least(h.expires_at, now())
     where h.connection_id = _connection and h.admitted_at <= latest
       and h.admitted_at >= coalesce(earliest, '-infinity')
       and _revision in (0, (h.report::json ->> 'grantRevision')::int)
       and (h.expires_at > now() or coalesce(h.report::json ->> 'profileRevision', 'none') <> 'none'
            or h.state = 'suggested' and exists (select from answers a where a.id = h.id))
    returning h.id, h.state
  )
  delete from answers a where a.id = any (array(select e.id from erased e where e.state = 'suggested'));
  -- Everything admitted at `earliest` or later is erased now. Stored times are whole milliseconds.
  update erasing_grants g set ended_at = earliest - interval '1 millisecond'
   where g.account_id = _account and g.connection_id = _connection and g.grant_revision = _revision
     and earliest is not null;
  return earliest is not null;
end $$;
