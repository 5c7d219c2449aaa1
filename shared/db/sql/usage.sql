-- An app's usage of a month is one row, which every admission and every completion writes. While any other snapshot is
-- open (a dump, a report), no old version of a row can be pruned, and a look-up reads past all of them. So every 100
-- writes a new row, the next page, replaces the row. A look-up starts from the newest page, and reads 100 versions at
-- most. One page is visible at a time.

-- Locks and returns an app's usage of a month; null when there is none. Statistics say that there is one row, so a plan
-- that sorts would seem as cheap as one that begins at the newest page, but would read all versions.
create or replace function lock_usage_v1(_app uuid, _month text) returns usage
language plpgsql set enable_sort = off as $$
declare
  used usage%rowtype;
begin
  loop
    select * into used from usage u
     where u.app_id = _app and u.month = _month
       and u.page = (
         select n.page from usage n where n.app_id = _app and n.month = _month order by n.page desc limit 1)
       for update;
    exit when found;
    exit when not exists (select from usage u where u.app_id = _app and u.month = _month);
    -- Another transaction has just turned the page.
  end loop;
  return used;
end $$;

-- Locks and returns an app's usage of a month. Creates the row on the app's first use in that month.
create or replace function open_usage_v1(_app uuid, _month text) returns usage
language plpgsql as $$
declare
  used usage%rowtype := lock_usage_v1(_app, _month);
begin
  if used.app_id is null then
    -- Lets one transaction in at a time: once a later page has replaced the first one, the key permits a second first.
    perform pg_advisory_xact_lock(hashtextextended('usage ' || _app || _month, 0));
    insert into usage (app_id, month)
    select _app, _month where not exists (select from usage u where u.app_id = _app and u.month = _month);
    used := lock_usage_v1(_app, _month);
  end if;
  return used;
end $$;

-- Stores the usage that `lock_usage_v1` returned and the caller changed.
create or replace function store_usage_v1(_used usage) returns void
language plpgsql as $$
begin
  if _used.writes < 100 then
    update usage u
       set reserved = _used.reserved, settled = _used.settled,
           paid_reserved = _used.paid_reserved, paid_settled = _used.paid_settled,
           paid_reserved_microcents = _used.paid_reserved_microcents,
           paid_settled_microcents = _used.paid_settled_microcents, writes = _used.writes + 1
     where u.app_id = _used.app_id and u.month = _used.month and u.page = _used.page;
  else
    delete from usage u where u.app_id = _used.app_id and u.month = _used.month and u.page = _used.page;
    _used.page := _used.page + 1;
    _used.writes := 0;
    insert into usage values (_used.*);
  end if;
end $$;
