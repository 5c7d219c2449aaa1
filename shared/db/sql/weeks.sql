-- Creates the partitions of `history` and `drafts`: one for each week (UTC, from Monday), two weeks ahead. A partition
-- has all its indexes before it is attached.
create or replace function make_weeks_v1() returns void
language plpgsql as $$
declare
  parent text;
  this_week timestamp := date_trunc('week', now() at time zone 'UTC');
  week date;
  name text;
begin
  -- The lock of a table, unlike an advisory one, also shows `to_regclass` what others have made meanwhile.
  lock table only history in share update exclusive mode;
  foreach parent in array array['history', 'drafts'] loop
    for week in
      select generate_series(this_week, this_week + interval '2 weeks', interval '1 week')::date
    loop
      name := parent || '_' || to_char(week, 'YYYYMMDD');
      continue when to_regclass(name) is not null;
      execute format('create table %I (like %I including all)', name, parent);
      if parent = 'history' then
        execute format(
          'alter table history attach partition %I for values from (%L) to (%L)',
          name, week || ' 00:00:00+00', (week + 7) || ' 00:00:00+00');
      else
        execute format('alter table drafts attach partition %I for values from (%L) to (%L)', name, week, week + 7);
      end if;
    end loop;
  end loop;
end $$;

-- Creates the partitions of this week if the clock has leapt past all that exist. Called before a statement that writes
-- to them, and before that takes a lock.
create or replace function need_week_v1() returns void
language plpgsql as $$
declare
  this_week text := to_char(date_trunc('week', now() at time zone 'UTC'), 'YYYYMMDD');
begin
  if to_regclass('history_' || this_week) is null or to_regclass('drafts_' || this_week) is null then
    perform make_weeks_v1();
  end if;
end $$;

-- Drops the partitions in which everything is older than `_days`, and returns their number. A partition that is in use
-- is left for the next round.
create or replace function drop_weeks_v1(_days int) returns int
language plpgsql
set lock_timeout = '100ms'
as $$
declare
  old record;
  dropped int := 0;
begin
  for old in
    select p.relname as parent, c.relname as name
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where i.inhparent in ('history'::regclass, 'drafts'::regclass)
       and to_date(right(c.relname, 8), 'YYYYMMDD') + 7 <= (now() at time zone 'UTC')::date - _days
  loop
    begin
      execute format('alter table %I detach partition %I', old.parent, old.name);
      execute format('drop table %I', old.name);
      dropped := dropped + 1;
    exception when lock_not_available then
      null;
    end;
  end loop;
  return dropped;
end $$;
