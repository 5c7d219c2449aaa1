-- What an account stores, as far as a quota limits it: one row of `account_usage`, which whoever stores something
-- locks, checks and increases in the same transaction. Another thing to count is another column of it.

-- What recorded events the account's row does not count yet: those that arrived after `_reached`. Sessions are new when
-- none of their events arrived before.
create or replace function recorded_since_v1(_account uuid, _reached bigint)
returns table (sessions bigint, events bigint, bytes bigint, reached bigint)
language sql stable as $$
  select count(*) filter (where not exists (
           select from recording_events e where e.session_id = s.id and e.arrival <= _reached)),
         coalesce(sum(n.events), 0)::bigint, coalesce(sum(n.bytes), 0)::bigint, max(s.last_arrival)
    from recording_sessions s
   cross join lateral (
     select count(*) as events, sum(octet_length(e.body)) as bytes
       from recording_events e where e.session_id = s.id and e.arrival > _reached) n
   where s.account_id = _account and s.last_arrival > _reached
$$;

-- Locks what an account uses. The caller has locked the account. First counts what `record_v1` stored, which counts
-- nothing itself: before the upgrade, or in processes of the version before while they still run.
create or replace function lock_account_usage_v1(_account uuid) returns account_usage
language plpgsql as $$
declare
  used account_usage%rowtype;
begin
  select * into used from account_usage u where u.account_id = _account for update;
  if not found then
    insert into account_usage (account_id) values (_account) returning * into used;
  end if;
  if used.reached < (select max(s.last_arrival) from recording_sessions s where s.account_id = _account) then
    update account_usage u
       set sessions = u.sessions + m.sessions, events = u.events + m.events, bytes = u.bytes + m.bytes,
           reached = m.reached
      from recorded_since_v1(_account, used.reached) m where u.account_id = _account
    returning u.* into used;
  end if;
  return used;
end $$;

-- Which of the amounts in `_added` do not fit into `_quotas` (by the names of the columns; one that is missing has no
-- limit): null when all do. What adds nothing always fits, also when less is allowed now than is used.
create or replace function excess_v1(_used account_usage, _added json, _quotas json) returns json
language sql immutable as $$
  select json_agg(json_build_object('resource', a.key, 'used', u.used, 'added', a.added, 'quota', u.quota))
    from (select key, value::bigint as added from json_each_text(_added)) a
   cross join lateral (
     select (row_to_json(_used) ->> a.key)::bigint as used, (_quotas ->> a.key)::bigint as quota) u
   where a.added > 0 and u.used + a.added > u.quota
$$;
