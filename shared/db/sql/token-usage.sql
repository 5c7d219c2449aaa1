-- `token_usage` has the tokens that models have used for each account on its latest day (UTC) with any, and under the
-- id of zeros for all accounts together. Apps do not count: their plans bound them.

create or replace function all_accounts() returns uuid language sql immutable as
$$ select '00000000-0000-0000-0000-000000000000'::uuid $$;

create or replace function utc_day() returns date language sql stable as
$$ select (now() at time zone 'UTC')::date $$;

-- Adds new calls of the ledger. Locks the rows in the order of their ids, and no account.
create or replace function count_tokens() returns trigger language plpgsql as $$
begin
  insert into token_usage as u (account_id, day, tokens)
  select coalesce(b.account_id, all_accounts()), utc_day(), sum(b.input_tokens + b.output_tokens)
    from booked b
   where b.app_id is null
   group by rollup (b.account_id)
  having sum(b.input_tokens + b.output_tokens) > 0 and (grouping(b.account_id) = 1 or b.account_id is not null)
   order by 1
      on conflict (account_id) do update
     set tokens = excluded.tokens + case when u.day = excluded.day then u.tokens else 0 end, day = excluded.day;
  return null;
end $$;

-- Creates the trigger only if it is missing, because creating one locks its table.
do $$ begin
  if exists (select from pg_trigger where tgname = 'call_booked' and tgrelid = 'provider_calls'::regclass) then
    return;
  end if;
  create trigger call_booked after insert on provider_calls referencing new table as booked
    for each statement execute function count_tokens();
end $$;

-- Returns whether an account, or all together, have used up their tokens of today. A quota of null is unlimited.
create or replace function are_tokens_used_up_v1(_account uuid, _quota bigint, _quota_of_all bigint) returns boolean
language plpgsql as $$
begin
  return exists (
    select from token_usage u
     where u.account_id in (_account, all_accounts()) and u.day = utc_day()
       and u.tokens >= case when u.account_id = _account then _quota else _quota_of_all end);
end $$;
