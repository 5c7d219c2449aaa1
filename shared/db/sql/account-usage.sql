-- A row of `account_usage` counts what an account stores and quotas limit. A transaction that stores something locks,
-- checks and increases the row. To count another resource, add a column.

-- Locks an account's usage row, which it creates if missing. The caller has locked the account.
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

-- Returns those amounts in `_added` that do not fit into `_quotas`, or null if all fit. Both have column names as keys;
-- a resource without a quota is unlimited. Adding nothing always fits, even if the quota is below what is used already.
create or replace function excess_v1(_used account_usage, _added json, _quotas json) returns json
language sql immutable as $$
  select json_agg(json_build_object('resource', a.key, 'used', u.used, 'added', a.added, 'quota', u.quota))
    from (select key, value::bigint as added from json_each_text(_added)) a
   cross join lateral (
     select (row_to_json(_used) ->> a.key)::bigint as used, (_quotas ->> a.key)::bigint as quota) u
   where a.added > 0 and u.used + a.added > u.quota
$$;
