-- Checks whether the profile and all memory rows that a prediction was made from still exist, with their texts. Locks
-- them: it waits for a deletion that has begun, and a deletion that begins later finds the prediction.
create or replace function is_left(account uuid, context jsonb) returns boolean language sql volatile as $$
  select not exists (
    select from (values ('fact_ids'), ('episode_ids'), ('raw_ids'), ('example_ids')) t (tier)
     cross join lateral jsonb_array_elements_text(context -> tier) used (id)
     where not case tier
       when 'fact_ids' then exists (
         select from facts f where f.id = used.id::uuid and f.account_id = account and f.stale_at is null for share)
       when 'episode_ids' then exists (
         select from episodes e where e.id = used.id::uuid and e.account_id = account and e.stale_at is null for share)
       else exists (select from raw_memories r where r.id = used.id::uuid and r.account_id = account for share) end)
  and ((context ->> 'profile')::boolean is not true
       or exists (select from profiles p where p.account_id = account for share))
$$;
