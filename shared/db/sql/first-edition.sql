-- What processes of the heart's first edition call while both run side by side: to them a request that this edition
-- knows is in flight, and adopted work ends here. To be dropped with the tables of the first edition.
create or replace function admit_v1(
  batch json, process uuid, timeout_ms int, window_s int, sandbox_units int, price bigint)
returns table (
  place int, outcome text, prediction_id uuid, attempt int, left_ms float8, turn float8, superseded uuid[])
language plpgsql as $$
#variable_conflict use_column
declare
  old json;
begin
  perform lock_usage_v1(i.app_id, month_of(now() - live_work_max_age())), open_usage_v1(i.app_id, month_of(now()))
     from (select distinct a.app_id from json_populate_recordset(null::admission_v1, batch) a order by a.app_id) i;
  return query
  select i.place, 'request_in_flight', i.id, 1, 0::float8, 0::float8, '{}'::uuid[]
    from json_populate_recordset(null::admission_v1, batch) i
   where exists (select from work w where w.key = request_key_v1('predict', i.app_id, i.request_id))
      or exists (select from history h where h.key = request_key_v1('predict', i.app_id, i.request_id));
  select json_agg(e.item) into old
    from json_array_elements(batch) e (item)
    cross join lateral (
      select request_key_v1('predict', (e.item ->> 'app_id')::uuid, e.item ->> 'request_id') as key) k
   where not exists (select from work w where w.key = k.key) and not exists (select from history h where h.key = k.key);
  if old is not null then
    return query select * from admit_first_edition(old, process, timeout_ms, window_s, sandbox_units, price);
  end if;
end $$;

create or replace function end_v1(batch json, window_s int) returns table (place int)
language plpgsql as $$
#variable_conflict use_column
declare
  item record;
begin
  perform lock_usage_v1(i.app_id, i.month)
     from (select distinct e.app_id, e.month from json_populate_recordset(null::ending_v1, batch) e
            where e.month <> 'moved' order by e.app_id, e.month) i;
  for item in
    select i.* from json_populate_recordset(null::ending_v1, batch) i where i.month = 'moved' and i.guard <> 'attempt'
     order by i.app_id, i.id
  loop
    return query
    select item.place from complete_v1(
      item.app_id,
      (select json_agg(json_build_object(
         'place', 0, 'id', w.id, 'month', w.month, 'guard', 'live', 'state', item.state, 'code', item.code,
         'source', item.source, 'settle', false)) from work w where w.id = item.id),
      '{}', window_s, 0)
     where exists (select from work w where w.id = item.id);
  end loop;
  return query
  select * from end_first_edition((
    select coalesce(json_agg(e.item), '[]') from json_array_elements(batch) e (item)
     where e.item ->> 'month' <> 'moved'), window_s);
end $$;
