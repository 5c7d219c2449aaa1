-- The storage of an account, as far as a quota limits it: one row of `account_usage`, which whoever stores something
-- locks, checks and increases in the same transaction. Another thing to count is another column of it.

-- Locks what an account uses. The caller has locked the account.
create or replace function lock_account_usage_v1(_account uuid) returns account_usage
language plpgsql as $$
declare
  used account_usage%rowtype;
begin
  select * into used from account_usage u where u.account_id = _account for update;
  if not found then
    insert into account_usage (account_id) values (_account) returning * into used;
  end if;
  return used;
end $$;

-- Returns which of the amounts in `_added` do not fit into `_quotas` (by the names of the columns; one that is missing
-- has no limit): null when all do. What adds nothing always fits, also when less is allowed now than is used.
create or replace function excess_v1(_used account_usage, _added json, _quotas json) returns json
language sql immutable as $$
  select json_agg(json_build_object('resource', a.key, 'used', u.used, 'added', a.added, 'quota', u.quota))
    from (select key, value::bigint as added from json_each_text(_added)) a
   cross join lateral (
     select (row_to_json(_used) ->> a.key)::bigint as used, (_quotas ->> a.key)::bigint as quota) u
   where a.added > 0 and u.used + a.added > u.quota
$$;
